import { afterAll, beforeAll, describe, it } from "vitest";
import type { Receiver } from "../src/embed/index.ts";
import { withApplication } from "../test/support/application.ts";
import { DIALECTS, type Dialect, withMigrated } from "../test/support/databases.ts";
import {
  expectConsumed,
  type Framework,
  SCENARIOS,
  type Scene,
  type Served,
  scenarioConfig,
  scenarioOptions,
} from "./scenarios.ts";

/** Lends an application of the framework that listens. */
async function withScene(
  framework: Framework,
  dialect: Dialect,
  { serve, use }: { serve: (receiver: Receiver) => Promise<Served>; use: (scene: Scene) => Promise<void> },
): Promise<void> {
  const failing = new Set<string>();
  const options = { file: scenarioConfig(failing), ...scenarioOptions(framework) };
  await withMigrated(dialect, (target) =>
    withApplication(
      target,
      async ({ receiver, lines }) => {
        const { origin, close } = await serve(receiver);
        try {
          await use({ receiver, origin, framework, lines, target, failing });
        } finally {
          await close();
        }
      },
      options,
    ),
  );
}

/** All scenarios in one application a database. */
export function describeFramework(framework: Framework): void {
  describe.each(DIALECTS)(`${framework.name}, on %s`, (dialect) => {
    const opened = Promise.withResolvers<Scene>();
    const ended = Promise.withResolvers<void>();
    let application: Promise<void> | undefined;

    beforeAll(async () => {
      const use = (scene: Scene) => {
        opened.resolve(scene);
        return ended.promise;
      };
      application = withScene(framework, dialect, { serve: framework.serve, use });
      await Promise.race([opened.promise, application]);
    });
    afterAll(async () => {
      ended.resolve();
      await application;
    });

    const { behindParser, isReadBefore = false } = framework;
    for (const { title, run, isOfReading = false } of SCENARIOS)
      if (!(isOfReading && isReadBefore) && !framework.except?.test(title))
        it(`${framework.name}: ${title}`, async () => run(await opened.promise));

    if (behindParser !== undefined)
      it(`${framework.name}: a body that a parser has read returns 500, and the log names the parser`, async () => {
        const { serve, message } = behindParser;
        await withScene(framework, dialect, { serve, use: (scene) => expectConsumed(scene, message) });
      });
  });
}
