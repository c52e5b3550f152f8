import { describe, expect, it } from "vitest";
import { z } from "zod";
import { migrate } from "../../src/app/index.ts";
import { defineHandler } from "../../src/index.ts";
import { type Store, sqlMigration } from "../../src/store/index.ts";
import { openTarget, type Target, withDatabase } from "../support/databases.ts";
import { countOf, EFFECTS } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { withLeastRights } from "../support/least-rights.ts";
import { makeOlder } from "../support/older-database.ts";
import { event, startReceiver, testConfig } from "../support/receiver.ts";
import { NEWEST } from "../support/schema-steps.ts";
import { until } from "../support/until.ts";

const [DATABASE_SCHEMA, RETRY_DELAY_SECONDS] = ["hooks", "0.1"];

/** Writes one row, and then fails while `stock` is down. */
const ordering = (stock: { isDown: boolean }) =>
  defineHandler({
    type: "order",
    data: z.object({}),
    migrations: [EFFECTS],
    async handle({ event, tx, notify }) {
      await tx.query.insertInto("effects").values({ event_id: event.event_id }).execute();
      await notify("ordered", {});
      if (stock.isDown) throw new Error("the stock service is down");
      return {};
    },
  });

const sweepAll = (store: Store) => {
  const now = new Date(Date.now() + 60_000);
  return store.retention.sweep({ callbacks: now, records: now, refusedRowsKept: 0, now });
};

describe("a PostgreSQL role without the right to create", () => {
  it("a role that may only read and write the tables starts, serves, retries and sweeps", { tags: "full" }, () =>
    withDatabase("postgres", async (target) => {
      const stock = { isDown: true };
      const handlers = [ordering(stock)];
      const env = { DATABASE_SCHEMA, RETRY_DELAY_SECONDS };
      await migrate({ config: testConfig(target, env), handlers, migrations: [] });
      await withLeastRights(target, DATABASE_SCHEMA, async (asRole) => {
        const receiver = await startReceiver(asRole, { env, handlers, retryPollMs: 20, outboxPollMs: 20 });
        try {
          expect((await receiver.send(event("order", {}))).status).toBe(500);
          stock.isDown = false;
          const others = Array.from({ length: 15 }, () => receiver.send(event("order", {})));
          expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 200));
          await until(async () => (await countOf(target, "hooks.oncehook_records")) === 16);
          await until(
            async () => (await countOf(target, "hooks.oncehook_notifications", "fanned_out_at IS NULL")) === 0,
          );
          expect(await countOf(target, "hooks.effects")).toBe(16);
          expect(JSON.stringify(receiver.lines)).not.toContain("permission denied");
        } finally {
          await receiver.stop();
        }
        const { store } = await openTarget(asRole, {
          schema: DATABASE_SCHEMA,
          stamp: { environment: "test", keys: { current: "", previous: [], acceptNew: true } },
        });
        try {
          expect((await sweepAll(store)).records).toBeGreaterThan(0);
        } finally {
          await store.close();
        }
      });
    }),
  );

  /** @returns why the role cannot start there */
  const refusal = (target: Target, options: Parameters<typeof openTarget>[1] = {}) =>
    withLeastRights(target, "public", (asRole) =>
      openTarget(asRole, options).then(
        () => "started",
        (error: unknown) => String(error),
      ),
    );

  it(
    "a schema of an earlier version is refused to it with the command for a role that may change it",
    { tags: "full" },
    () =>
      withDatabase("postgres", async (target) => {
        await execute(target, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        await makeOlder(target, 27);
        const why = await refusal(target);
        expect(why).toContain(`the database has schema 27, this version needs ${NEWEST}, and this role may not change`);
        expect(why).toContain("must be owner of table");
        expect(why).toContain("Run `oncehook migrate` with a DATABASE_URL of the role that owns the tables");
      }),
  );

  it("an empty database, a missing schema and a handler's migration are refused to it with the same command", () =>
    withDatabase("postgres", async (target) => {
      await execute(target, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
      expect(await refusal(target)).toMatch(/has no tables of Oncehook yet.*`oncehook migrate`/);
      expect(await refusal(target, { schema: "absent" })).toMatch(/"absent" does not exist.*`oncehook migrate`/);
      await (await openTarget(target)).store.close();
      const migrations = [sqlMigration("orders", "CREATE TABLE orders (id integer)")];
      expect(await refusal(target, { migrations })).toMatch(/migration "orders" failed.*`oncehook migrate`/);
    }));
});
