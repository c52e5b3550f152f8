import { z } from "zod";
import { assemble } from "../../src/app/assemble.ts";
import { UndoSteps } from "../../src/app/undo-steps.ts";
import { type AdminFetch, type AdminOptions, createAdminFetch } from "../../src/embed/admin-fetch.ts";
import { defineHandler } from "../../src/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { type Dialect, withMigrated } from "./databases.ts";
import { countOf } from "./effects.ts";
import { heldOpen } from "./for-all-tests.ts";
import type { Target } from "./open-target.ts";
import { event, startReceiver, testConfig } from "./receiver.ts";

export interface EmbeddedAdminTest {
  readonly admin: AdminFetch;
  readonly target: Target;
  readonly lines: readonly Record<string, unknown>[];
  count(table: string, where?: string): Promise<number>;
}

export const HANDLED = "evt-handled";
export const FAILED = "evt-failed";
const ENV = { RETRY_MAX: "0", RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", LOG_LEVEL: "info" };

/** Lends the admin API of an application, over a database with one handled event and one that failed and can be replayed. */
export function withEmbeddedAdmin<T>(
  dialect: Dialect,
  options: AdminOptions | undefined,
  use: (test: EmbeddedAdminTest) => Promise<T>,
): Promise<T> {
  return withMigrated(dialect, async (target) => {
    let isBroken = true;
    const handler = defineHandler({
      type: "order_paid",
      data: z.object({}),
      async handle({ event }) {
        if (isBroken && event.event_id === FAILED) throw new Error("the books are closed");
        return {};
      },
    });
    const receiver = await startReceiver(target, { env: ENV, handlers: [handler] });
    await receiver.send(event("order_paid", {}, { event_id: HANDLED }));
    await receiver.send(event("order_paid", {}, { event_id: FAILED }));
    await receiver.stop();
    isBroken = false;
    return withAssembled(target, options, [handler], use);
  });
}

/** One for several tests that change nothing: `beforeAll(lent.begin)`, `afterAll(lent.end)`. */
export function lentEmbeddedAdmin(options: AdminOptions) {
  let lent: EmbeddedAdminTest | undefined;
  const held = heldOpen((untilTestsEnd) =>
    withEmbeddedAdmin("sqlite", options, async (test) => {
      lent = test;
      await untilTestsEnd();
    }),
  );
  return {
    get test(): EmbeddedAdminTest {
      if (lent === undefined) throw new Error("the admin API has not been opened");
      return lent;
    },
    begin: held.begin,
    end: held.end,
  };
}

/** Lends the admin API of an application over this database. */
async function withAssembled<T>(
  target: Target,
  options: AdminOptions | undefined,
  handlers: Parameters<typeof assemble>[1]["handlers"],
  use: (test: EmbeddedAdminTest) => Promise<T>,
): Promise<T> {
  const config = testConfig(target, ENV);
  const { logger, secretValues, lines } = capturedLog(config);
  const undo = new UndoSteps(logger);
  try {
    const assembled = await assemble(config, { logger, secretValues, ...(handlers && { handlers }) }, undo);
    const admin = createAdminFetch(assembled, options);
    undo.add("admin", () => admin.close());
    return await use({ admin, target, lines, count: (table, where) => countOf(target, table, where) });
  } finally {
    await undo.run();
  }
}
