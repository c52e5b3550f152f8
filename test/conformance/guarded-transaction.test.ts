import type { DatabaseSync } from "node:sqlite";
import type pg from "pg";
import { describe, expect, it } from "vitest";
import { type OnceScope, sql } from "../../src/store/index.ts";
import { DIALECTS, type Target, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const RESULT = { result: {} };
const OPTIONS = { migrations: [EFFECTS] };
const insert = (id: string) => `INSERT INTO effects (event_id) VALUES ('${id}')`;
const sqlite = ({ tx }: OnceScope) => tx.connection as DatabaseSync;
const postgres = ({ tx }: OnceScope) => tx.connection as pg.ClientBase;

async function nothingIsLeft(target: Target): Promise<void> {
  expect(await countOf(target, "effects")).toBe(0);
  expect(await countOf(target, "oncehook_records")).toBe(0);
}

describe.each(DIALECTS)("the transaction of a handler on %s", (dialect) => {
  it("a handler's transaction takes one statement at a time, so that none is dropped and none hides a COMMIT", () =>
    withStore(
      dialect,
      async (store, target) => {
        for (const second of [insert("b"), "COMMIT"]) {
          const run = runOnce(
            store,
            newRecord("e1"),
            async ({ tx }) => {
              await sql.raw(`${insert("a")}; ${second}`).execute(tx.query);
              return RESULT;
            },
            committing(),
          );
          await expect(run).rejects.toThrow(/one statement at a time|multiple commands|may not run "COMMIT"/);
        }
        await nothingIsLeft(target);
        await runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            await sql.raw(`${insert("a")}; -- a comment; is no statement\n ;`).execute(tx.query);
            return RESULT;
          },
          committing(),
        );
        expect(await countOf(target, "effects")).toBe(1);
      },
      OPTIONS,
    ));

  it("the transaction serves the next event after a handler that misused it", () =>
    withStore(
      dialect,
      async (store, target) => {
        const misuses: ((scope: OnceScope) => unknown)[] =
          dialect === "sqlite"
            ? [
                (scope) => sqlite(scope).close(),
                (scope) => sqlite(scope)[Symbol.dispose](),
                (scope) => Reflect.get(sqlite(scope), "createTagStore").call(undefined),
                (scope) => sqlite(scope).exec(`${insert("x")}; COMMIT`),
                (scope) => sqlite(scope).exec(`${insert("x")}; COMMIT; BEGIN`),
                (scope) => sqlite(scope).prepare("/**/ ROLLBACK").run(),
                (scope) => {
                  const own = "ONCEHOOK_MEMBER";
                  sqlite(scope).exec(`${insert("x")}; RELEASE ${own}; SAVEPOINT ${own}`);
                  throw new Error("what came before its savepoint would stay");
                },
              ]
            : [
                (scope) => (postgres(scope) as pg.PoolClient).release(),
                (scope) => postgres(scope).query("SET synchronous_commit = off"),
                (scope) => sql.raw("SET statement_timeout = 1").execute(scope.tx.query),
                (scope) => postgres(scope).query(insert("x"), () => {}),
              ];
        for (const misuse of misuses) {
          const run = runOnce(
            store,
            newRecord("e1"),
            async (scope) => {
              await misuse(scope);
              return RESULT;
            },
            committing(),
          );
          await expect(run).rejects.toThrow();
        }
        await nothingIsLeft(target);
        await runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
        expect(await countOf(target, "effects")).toBe(1);
        await store.ping();
      },
      OPTIONS,
    ));
});

describe("the transaction of a handler on sqlite", () => {
  it("a transaction that SQLite ended commits nothing statement by statement, even where the handler swallows the error", () =>
    withStore(
      "sqlite",
      async (store, target) => {
        const own = "CREATE TABLE uniq (k text PRIMARY KEY ON CONFLICT ROLLBACK)";
        await runOnce(
          store,
          newRecord("table"),
          async ({ tx }) => {
            await sql.raw(own).execute(tx.query);
            await sql.raw("INSERT INTO uniq VALUES ('k')").execute(tx.query);
            return RESULT;
          },
          committing(),
        );
        for (const useQuery of [true, false]) {
          const run = runOnce(
            store,
            newRecord("e1"),
            async (scope) => {
              await sql
                .raw("INSERT INTO uniq VALUES ('k')")
                .execute(scope.tx.query)
                .catch(() => {});
              if (useQuery) await addEffect(scope, "e1").catch(() => {});
              else expect(() => sqlite(scope).exec(insert("e1"))).toThrow("the transaction was ended");
              await scope.enqueue({ topic: "t", payload: {} }).catch(() => {});
              return RESULT;
            },
            committing(),
          );
          await expect(run).rejects.toThrow("the transaction was ended inside the handler");
        }
        expect(await countOf(target, "effects")).toBe(0);
        expect(await countOf(target, "oncehook_notifications")).toBe(0);
        expect(await countOf(target, "oncehook_records")).toBe(1);
      },
      OPTIONS,
    ));

  it("a statement that would outlast its event on the shared connection is refused with the reason", () =>
    withStore(
      "sqlite",
      async (store, target) => {
        const texts: [string, string][] = [
          ["PRAGMA query_only = ON", "PRAGMA query_only would stay set"],
          ["PRAGMA busy_timeout(60000)", "PRAGMA busy_timeout would stay set"],
          ["PRAGMA synchronous = OFF", "PRAGMA synchronous would stay set"],
          ["ATTACH ':memory:' AS other", "another database would stay attached"],
          ["CREATE TEMP TABLE effects (event_id text, note text)", "a temporary table"],
          ["CREATE TABLE temp.oncehook_records (id integer)", "a temporary table"],
          ["CREATE TEMP VIEW oncehook_failures AS SELECT 1", "a temporary table"],
          ["CREATE TEMP TRIGGER t AFTER INSERT ON effects BEGIN DELETE FROM effects; END", "a temporary table"],
        ];
        for (const [text, why] of texts) {
          for (const way of [
            (scope: OnceScope) => sqlite(scope).exec(text),
            (scope: OnceScope) => scope.tx.execute(text),
          ]) {
            const run = runOnce(
              store,
              newRecord("e1"),
              async (scope) => {
                await way(scope);
                return RESULT;
              },
              committing(),
            );
            await expect(run, text).rejects.toThrow(why);
          }
        }
        await runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
        expect(await countOf(target, "effects")).toBe(1);
      },
      OPTIONS,
    ));

  it("PRAGMA may read the schema and defer the foreign keys", () =>
    withStore(
      "sqlite",
      async (store) => {
        const run = runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            const { rows } = await tx.execute("PRAGMA table_info(effects)");
            await tx.execute("PRAGMA defer_foreign_keys = ON");
            const listed = await tx.execute("SELECT name FROM pragma_table_info('effects')");
            return { result: { columns: rows.length, listed: listed.rows.length } };
          },
          committing(),
        );
        expect(await run).toMatchObject({ result: { columns: 2, listed: 2 } });
      },
      OPTIONS,
    ));

  it("no statement of the connection is usable after the transaction", () =>
    withStore(
      "sqlite",
      async (store, target) => {
        const kept: ReturnType<DatabaseSync["prepare"]>[] = [];
        await runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            kept.push(sqlite(scope).prepare(insert("late")));
            return RESULT;
          },
          committing(),
        );
        expect(() => kept[0]!.run()).toThrow("the transaction has ended");
        expect(await countOf(target, "effects")).toBe(0);
      },
      OPTIONS,
    ));
});

describe("the transaction of a handler on postgres", () => {
  it("a transaction is not committed while an unawaited statement runs on its connection", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const pending: Promise<unknown>[] = [];
        const run = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            pending.push(postgres(scope).query(insert("a")), postgres(scope).query(insert("b")));
            return RESULT;
          },
          committing(),
        );
        await expect(run).rejects.toThrow("await every use of `tx`");
        await Promise.allSettled(pending);
        await nothingIsLeft(target);
      },
      OPTIONS,
    ));

  it("a connection is given to no other event while its rollback waits behind a statement", () =>
    withStore(
      "postgres",
      async (store) => {
        const pids: unknown[] = [];
        const pid = async ({ tx }: OnceScope) => {
          pids.push((await tx.execute("SELECT pg_backend_pid() AS pid")).rows[0]?.pid);
          return RESULT;
        };
        const run = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            const result = await pid(scope);
            void scope.tx.execute("SELECT pg_sleep(2)").catch(() => {});
            return result;
          },
          committing(),
        );
        await expect(run).rejects.toThrow("await every use of `tx`");
        await runOnce(store, newRecord("e2"), pid, committing());
        expect(new Set(pids).size).toBe(2);
      },
      { ...OPTIONS, poolSize: 1 },
    ));

  it("a statement that the handler's own limit cancels fails the handler, and is not run again", () =>
    withStore(
      "postgres",
      async (store, target) => {
        let runs = 0;
        const run = runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            runs += 1;
            await sql.raw("SET LOCAL statement_timeout = 20").execute(tx.query);
            await sql.raw("SELECT pg_sleep(1)").execute(tx.query);
            return RESULT;
          },
          committing(),
        );
        await expect(run).rejects.toMatchObject({ code: "57014" });
        expect(runs).toBe(1);
        await nothingIsLeft(target);
      },
      OPTIONS,
    ));

  it("the error reports whether the handler had started when it could not be committed in time", () =>
    withStore(
      "postgres",
      async (store) => {
        const failing = runOnce(
          store,
          newRecord("e1"),
          async ({ tx }) => {
            await sql.raw("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$").execute(tx.query);
            return RESULT;
          },
          { deadline: within(200), mode: "commit" },
        );
        await expect(failing).rejects.toMatchObject({
          name: "StoreError",
          reason: "unavailable",
          handlerStarted: true,
        });
      },
      OPTIONS,
    ));
});
