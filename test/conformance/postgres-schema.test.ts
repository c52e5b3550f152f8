import pg from "pg";
import { describe, expect, it } from "vitest";
import { migrate } from "../../src/app/index.ts";
import { takeOrder } from "../../src/store/index.ts";
import { notRun } from "../deploy/on-the-path.ts";
import { checkTarget } from "../support/check-target.ts";
import { openTarget, withDatabase } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure } from "../support/failure.ts";
import { inspectTarget } from "../support/inspect-target.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";
import { PGBOUNCER, withPgbouncer } from "../support/pgbouncer.ts";
import { payment, startReceiver, testConfig } from "../support/receiver.ts";
import { statementsOf } from "../support/statements.ts";

const schema = "my hooks";
const NOW = new Date();
/** Ends the process's session-wide view of the tables: the search path, which a pooler may drop, is another one. */
const LOSE_PATH = "SET LOCAL search_path TO decoy, public";

describe("DATABASE_SCHEMA with qualified names", () => {
  it("every statement of Oncehook's own names its tables with the schema", () =>
    withDatabase("postgres", async (target) => {
      const sent = await statementsOf(async () => {
        const { store } = await openTarget(target, { schema, migrations: [EFFECTS] });
        try {
          const run = (id: string) =>
            runOnce(
              store,
              newRecord(id),
              async (scope) => {
                const order = { source: "shop", orderKey: "k", at: 1, sequence: null, staleBy: undefined };
                await takeOrder(scope.tx, order, NOW);
                await scope.enqueue({ topic: "t", payload: {} });
                return { ...(await addEffect(scope, id)), logEntry: logRow() };
              },
              committing(),
            );
          await Promise.all(["e1", "e2", "e3"].map(run));
          await run("e4");
          await store.failures.record(newFailure({ source: "platform", eventId: "e9" }, NOW), NOW);
          const lease = { owner: "a", now: new Date(NOW.getTime() + 60_000), until: new Date(NOW.getTime() + 90_000) };
          await store.failureLeases.leaseSuspect(lease);
          await store.appendCallbacks([logRow({ outcome: "signature_missing" })]);
          await store.retention.sweep({ callbacks: NOW, records: NOW, refusedRowsKept: 0, now: NOW });
          await store.find(newRecord("e1"), performance.now() + 5_000);
          await store.ping();
        } finally {
          await store.close();
        }
      });
      const own = sent.filter((text) => /oncehook_[a-z]/.test(text) && !/SAVEPOINT|RELEASE|ROLLBACK/.test(text));
      expect(own.length).toBeGreaterThan(60);
      const unqualified = /(?:FROM|INTO|UPDATE|JOIN|ON|TABLE|REFERENCES) "?oncehook_/;
      expect(own.filter((text) => unqualified.test(text))).toEqual([]);
    }));

  it(
    "tables of the same names in another schema of the path are never touched, whatever a handler does to the path",
    { tags: "full" },
    () =>
      withDatabase("postgres", async (target) => {
        await execute(target, "CREATE SCHEMA decoy");
        const decoy = await openTarget(target, { schema: "decoy" });
        await decoy.store.close();
        await execute(target, "TRUNCATE decoy.oncehook_settings");
        const { store } = await openTarget(target, { schema, migrations: [EFFECTS] });
        try {
          const order = { source: "shop", orderKey: "k", at: 1, sequence: null, staleBy: undefined };
          const losing = async ({ tx }: Parameters<typeof addEffect>[0]) => {
            await tx.execute(LOSE_PATH);
            await takeOrder(tx, order, NOW);
            return { result: {} };
          };
          await runOnce(store, newRecord("e1"), losing, committing());
          await Promise.all(
            ["e2", "e3"].map((id) => runOnce(store, newRecord(id), async () => ({ result: {} }), committing())),
          );
        } finally {
          await store.close();
        }
        for (const table of ["records", "order_keys", "settings", "callbacks"])
          expect(await countOf(target, `decoy.oncehook_${table}`)).toBe(0);
        expect(await countOf(target, `"${schema}".oncehook_records`)).toBe(3);
        expect(await countOf(target, `"${schema}".oncehook_order_keys`)).toBe(1);
        expect(await inspectTarget(target, schema)).toMatchObject({ exists: true });
        expect((await checkTarget(target, schema)).invariants).not.toEqual([]);
      }),
  );
});

describe("DATABASE_SCHEMA behind PgBouncer that drops startup parameters", () => {
  if (PGBOUNCER === undefined) {
    it.skip(notRun("pgbouncer", "a schema behind a real PgBouncer"), () => {});
    return;
  }

  it("every record is in the schema, and an application's client keeps its own search path", { tags: "full" }, () =>
    withDatabase("postgres", (target) =>
      withPgbouncer(
        target.url,
        async (url) => {
          await execute(target, "CREATE SCHEMA shop; CREATE TABLE shop.orders (id integer)");
          const env = { DATABASE_SCHEMA: "hooks" };
          await migrate({ config: testConfig({ dialect: "postgres", url }, env), handlers: [], migrations: [] });
          const application = new pg.Client({ connectionString: url });
          await application.connect();
          const receiver = await startReceiver({ dialect: "postgres", url }, { env });
          try {
            for (let round = 0; round < 5; round += 1) {
              await application.query("BEGIN; SET LOCAL search_path TO shop");
              const sent = Array.from({ length: 8 }, () => receiver.send(payment()));
              await application.query("INSERT INTO orders VALUES (1)");
              expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 200));
              const path = await application.query("SHOW search_path");
              expect(path.rows).toEqual([{ search_path: "shop" }]);
              await application.query("COMMIT");
              const plain = await application.query("SELECT current_setting('search_path') AS path");
              expect(plain.rows[0].path).not.toContain("hooks");
            }
          } finally {
            await receiver.stop();
            await application.end();
          }
          expect(await countOf(target, "hooks.oncehook_records")).toBe(40);
          expect(await countOf(target, "shop.orders")).toBe(5);
          expect(
            await rowsOf(
              target,
              "SELECT schemaname FROM pg_tables WHERE tablename LIKE 'oncehook%' AND schemaname <> 'hooks'",
            ),
          ).toEqual([]);
        },
        ["ignore_startup_parameters = options,search_path", "default_pool_size = 3"],
      ),
    ),
  );
});
