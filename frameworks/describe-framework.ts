import { afterAll, beforeAll, describe, it } from "vitest";
import type { Receiver } from "../src/embed/index.ts";
import { withApplication } from "../test/support/application.ts";
import { DIALECTS, type Dialect, type Target, withMigrated } from "../test/support/databases.ts";
import {
  expectConsumed,
  type Framework,
  type Platform,
  SCENARIOS,
  type Scene,
  type Served,
  scenarioConfig,
  scenarioOptions,
} from "./scenarios.ts";

type WithScene = (target: Target, use: (scene: Scene) => Promise<void>) => Promise<void>;

interface Described {
  readonly platform: Platform;
  /** Lends an application that listens. */
  readonly withScene: WithScene;
  readonly behindParser?: {
    /** Left out: the other one, whose application reads the body of a request with these fields. */
    readonly withScene?: WithScene;
    readonly fields?: Record<string, string>;
    readonly message: RegExp;
  };
}

/** All scenarios in one application a database. */
export function describeScenarios({ platform, withScene, behindParser }: Described): void {
  for (const { scenario } of platform.exceptions ?? [])
    if (!SCENARIOS.some(({ title }) => scenario.test(title))) throw new Error(`no scenario is ${scenario}`);
  describe.each(DIALECTS)(`${platform.name}, on %s`, (dialect) => {
    const scene = useScene(dialect, withScene);
    for (const { title, run } of SCENARIOS) {
      const exception = platform.exceptions?.find(({ scenario }) => scenario.test(title));
      it(`${platform.name}: ${title}`, async ({ skip }) => {
        if (exception !== undefined) return skip(exception.because);
        await run(await scene);
      });
    }

    if (behindParser !== undefined)
      it(`${platform.name}: a body that a parser has read returns 500, and the log names the parser`, async () => {
        const { message, fields, withScene: withOther } = behindParser;
        if (withOther === undefined) return expectConsumed(await scene, message, fields);
        await withMigrated(dialect, (target) => withOther(target, (other) => expectConsumed(other, message)));
      });
  });
}

/** A scene from the first test of the suite to its last. */
function useScene(dialect: Dialect, withScene: WithScene): Promise<Scene> {
  const opened = Promise.withResolvers<Scene>();
  const ended = Promise.withResolvers<void>();
  let application: Promise<void> | undefined;
  beforeAll(async () => {
    application = withMigrated(dialect, (target) =>
      withScene(target, (scene) => {
        opened.resolve(scene);
        return ended.promise;
      }),
    );
    await Promise.race([opened.promise, application]);
  });
  afterAll(async () => {
    ended.resolve();
    await application;
  });
  return opened.promise;
}

/** A framework whose application runs in this process. */
export function describeFramework(framework: Framework): void {
  const { behindParser, serve } = framework;
  describeScenarios({
    platform: framework,
    withScene: mounted(framework, (receiver) => serve(receiver)),
    ...(behindParser !== undefined && {
      behindParser: {
        message: behindParser.message,
        withScene: mounted(framework, (receiver) => behindParser.serve(receiver)),
      },
    }),
  });
}

function mounted(platform: Framework, serve: (receiver: Receiver) => Promise<Served>): WithScene {
  return (target, use) => {
    const failing = new Set<string>();
    const options = { file: scenarioConfig(failing), ...scenarioOptions(platform) };
    return withApplication(
      target,
      async ({ receiver, lines }) => {
        const { origin, close } = await serve(receiver);
        try {
          await use({ receiver, origin, platform, lines, target, failing });
        } finally {
          await close();
        }
      },
      options,
    );
  };
}
