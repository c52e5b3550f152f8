import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { sql } from "../../src/store/index.ts";
import { DIALECTS, databaseFile, type Target, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, within } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const migrations = [EFFECTS];
/** Conflicts, restarts, a full server, a full or failing disk, a lock that was not free, a connection of the server's own. */
const PASSING = [
  ...["40001", "40P01", "57P01", "57P02", "57P03", "57P05", "53300", "53100", "53200", "58030"],
  ...["55P03", "08006"],
];

describe.each(DIALECTS)("faults of the database on %s", (dialect) => {
  it("a COMMIT that fails fails the delivery, keeps nothing, and the next delivery runs", () =>
    withStore(
      dialect,
      async (store, target) => {
        const failing = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            const completion = await addEffect(scope, "e1");
            await scope.tx.query.insertInto("children").values({ parent_id: 404 }).execute();
            return completion;
          },
          committing(),
        );
        await expect(failing).rejects.toMatchObject({ name: "StoreError", reason: "commit_failed" });
        expect(await countOf(target, "effects")).toBe(0);
        expect(await countOf(target, "oncehook_records")).toBe(0);
        expect((await runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing())).kind).toBe(
          "completed",
        );
      },
      { migrations },
    ));

  it("a first look-up that meets a busy database is retried until it is free, and decides nothing", () =>
    withStore(
      dialect,
      async (store, target) => {
        const free = await occupy(target);
        // Another event's: that one may be done before its own look-up goes on.
        const found = store.find(newRecord("e0"), within(10_000));
        const ending = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), committing());
        const early = await Promise.race([
          ending.then(() => "ended"),
          new Promise((r) => setTimeout(r, 150, "waiting")),
        ]);
        expect(early).toBe("waiting");
        await free();
        expect(await found).toBeUndefined();
        expect((await ending).kind).toBe("completed");
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations, lockTimeoutMs: 100 },
    ));

  it("a delivery gives up at the deadline while the database is busy, and has written nothing", () =>
    withStore(
      dialect,
      async (store, target) => {
        const free = await occupy(target);
        const late = runOnce(store, newRecord("e1"), (scope) => addEffect(scope, "e1"), {
          ...committing(),
          deadline: within(200),
        });
        await expect(late).rejects.toMatchObject({ name: "StoreError" });
        await free();
        expect(await countOf(target, "effects")).toBe(0);
        expect(await countOf(target, "oncehook_records")).toBe(0);
      },
      { migrations, lockTimeoutMs: 100 },
    ));
});

describe("faults that only PostgreSQL has", () => {
  it("the whole transaction runs again after each transient SQLSTATE", () =>
    withStore(
      "postgres",
      async (store, target) => {
        for (const state of PASSING) {
          let runs = 0;
          const ending = await runOnce(
            store,
            newRecord(state),
            async (scope) => {
              runs += 1;
              const completion = await addEffect(scope, state);
              if (runs === 1) await sql.raw(`DO $$ BEGIN RAISE SQLSTATE '${state}'; END $$`).execute(scope.tx.query);
              return completion;
            },
            committing(),
          );
          expect([state, ending.kind, runs]).toEqual([state, "completed", 2]);
        }
        expect(await countOf(target, "effects")).toBe(PASSING.length);
      },
      { migrations },
    ));

  it("a transient error is recognized behind four errors of the handler's own", () =>
    withStore("postgres", async (store) => {
      let runs = 0;
      const ending = await runOnce(
        store,
        newRecord("e1"),
        async ({ tx }) => {
          runs += 1;
          if (runs > 1) return { result: {} };
          const raise = tx.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$");
          return raise.then(
            () => ({ result: {} }),
            (cause: unknown) => {
              throw [1, 2, 3, 4].reduce((inner: unknown, n) => new Error(`${n}`, { cause: inner }), cause);
            },
          );
        },
        committing(),
      );
      expect([ending.kind, runs]).toEqual(["completed", 2]);
    }));

  it("the transaction runs again on another connection when its own is lost before COMMIT", () =>
    withStore(
      "postgres",
      async (store, target) => {
        let runs = 0;
        const ending = await runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            runs += 1;
            const completion = await addEffect(scope, "e1");
            if (runs === 1) await terminateOthers(target);
            return completion;
          },
          committing(),
        );
        expect(ending.kind).toBe("completed");
        expect(runs).toBe(2);
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations },
    ));

  it("a handler whose statement ends its connection each time counts as run, whatever it throws then", () =>
    withStore(
      "postgres",
      async (store, target) => {
        let runs = 0;
        const cutOff = runOnce(
          store,
          newRecord("e1"),
          async (scope) => {
            runs += 1;
            await addEffect(scope, "e1");
            const cause: unknown = await scope.tx
              .execute("SELECT pg_terminate_backend(pg_backend_pid())")
              .catch((error: unknown) => error);
            throw new Error("the stock could not be counted", { cause });
          },
          committing(200),
        );
        const fault = { name: "StoreError", reason: "unavailable", handlerStarted: true };
        await expect(cutOff).rejects.toMatchObject(fault);
        expect(runs).toBeGreaterThan(1);
        expect(await countOf(target, "effects")).toBe(0);
        expect(await countOf(target, "oncehook_records")).toBe(0);
      },
      { migrations },
    ));

  it("idle connections that the server has closed are replaced", () =>
    withStore("postgres", async (store, target) => {
      await store.ping();
      await terminateOthers(target);
      expect(await store.find(newRecord("e1"), within(5_000))).toBeUndefined();
      expect((await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing())).kind).toBe(
        "completed",
      );
    }));

  it("a transaction whose failed statement the handler swallowed is not a success", () =>
    withStore("postgres", async (store, target) => {
      const run = runOnce(
        store,
        newRecord("e1"),
        async ({ tx }) => {
          await sql
            .raw("SELECT 1 / 0")
            .execute(tx.query)
            .catch(() => {});
          return { result: {} };
        },
        committing(),
      );
      await expect(run).rejects.toThrow();
      expect(await countOf(target, "oncehook_records")).toBe(0);
    }));
});

/** Keeps every writer out, and on PostgreSQL every reader too, until the returned function is called. */
async function occupy(target: Target): Promise<() => Promise<void>> {
  if (target.dialect === "sqlite") {
    const database = new DatabaseSync(databaseFile(target));
    database.exec("BEGIN IMMEDIATE");
    return async () => {
      database.exec("ROLLBACK");
      database.close();
    };
  }
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  await client.query("BEGIN; LOCK TABLE oncehook_records IN ACCESS EXCLUSIVE MODE");
  return async () => {
    await client.query("ROLLBACK");
    await client.end();
  };
}

async function terminateOthers(target: Target): Promise<void> {
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  await client.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  await client.end();
}
