import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type OnceScope, type Store, sql } from "../../src/store/index.ts";
import { openTarget, withDatabase, withStore } from "../support/databases.ts";
import { committing, EFFECTS, newRecord, within } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";
import { withWire } from "../support/wire.ts";

const SETUP = {
  name: "test-shapes",
  async up({ query }: { query: Parameters<ReturnType<typeof sql.raw>["execute"]>[0] }) {
    await sql.raw("CREATE TABLE shapes (id integer, name text)").execute(query);
    await sql.raw("INSERT INTO shapes VALUES (1, 'one')").execute(query);
  },
};

async function run(store: Store, eventId: string, ...statements: string[]): Promise<unknown> {
  const rows: unknown[] = [];
  await runOnce(
    store,
    newRecord(eventId),
    async ({ tx }) => {
      for (const statement of statements) rows.push(...(await tx.execute(statement)).rows);
      return { result: {} };
    },
    committing(),
  );
  return rows;
}

describe("a statement that is kept parsed on postgres", () => {
  it("a kept statement is parsed again where its table was changed", () =>
    withStore(
      "postgres",
      async (store) => {
        const select = "SELECT * FROM shapes";
        for (const id of ["e1", "e2", "e3"]) {
          expect(await run(store, id, select)).toEqual([{ id: 1, name: "one" }]);
        }
        await run(store, "e4", "ALTER TABLE shapes ADD COLUMN size integer");
        for (const id of ["e5", "e6"]) {
          expect(await run(store, id, select)).toEqual([{ id: 1, name: "one", size: null }]);
        }
      },
      { migrations: [SETUP], poolSize: 1 },
    ));

  it("a kept statement is parsed again, and runs once, on a connection that was reset after a refused COMMIT", () =>
    withStore(
      "postgres",
      async (store) => {
        const select = "SELECT count(*)::int AS n FROM children";
        for (const id of ["e1", "e2", "e3"]) await run(store, id, select);
        const refused = run(store, "e4", "INSERT INTO children (parent_id) VALUES (404)");
        await expect(refused).rejects.toMatchObject({ reason: "commit_failed" });
        let runs = 0;
        const counting = async ({ tx }: OnceScope) => {
          runs += 1;
          await tx.execute(select);
          return { result: {} };
        };
        await runOnce(store, newRecord("e5"), counting, committing());
        expect(runs).toBe(1);
      },
      { migrations: [EFFECTS], poolSize: 1 },
    ));

  it("a kept statement is parsed again where another session has changed the table", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const select = "SELECT id, shapes.* FROM shapes";
        for (const id of ["e1", "e2", "e3"]) await run(store, id, select);
        await execute(target, "ALTER TABLE shapes ADD COLUMN size integer");
        for (const id of ["e4", "e5"])
          expect(await run(store, id, select)).toEqual([{ id: 1, name: "one", size: null }]);
      },
      { migrations: [SETUP], poolSize: 1 },
    ));

  it("a kept statement uses the real table where a temporary one has its name, unless it names pg_temp", () =>
    withStore(
      "postgres",
      async (store) => {
        const select = "SELECT name FROM shapes";
        for (const id of ["e1", "e2", "e3"]) expect(await run(store, id, select)).toEqual([{ name: "one" }]);
        const hide = "CREATE TEMP TABLE shapes (name text) ON COMMIT DROP";
        expect(await run(store, "e4", hide, select)).toEqual([{ name: "one" }]);
        expect(await run(store, "e6", hide, "SELECT name FROM pg_temp.shapes")).toEqual([]);
        expect(await run(store, "e5", select)).toEqual([{ name: "one" }]);
      },
      { migrations: [SETUP], poolSize: 1 },
    ));
});

describe("a statement of the store's own, which is kept parsed on postgres", () => {
  it("a kept statement of the store is parsed again where a newer version has changed its table", () =>
    withStore(
      "postgres",
      async (store) => {
        for (const id of ["e1", "e2"]) await run(store, id);
        expect((await store.find(newRecord("e1"), within(5_000)))?.version).toBe("v1");
        await run(store, "e3", "ALTER TABLE oncehook_records ALTER COLUMN version TYPE varchar(32)");
        expect((await store.find(newRecord("e1"), within(5_000)))?.version).toBe("v1");
      },
      { poolSize: 1 },
    ));
});

describe("a statement of the store's own that is refused while a connection parses it for the first time", () => {
  it("a refused first parse fails no later statement", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { poolSize: 1 });
        try {
          let parsed = 0;
          wire.replace(/JOIN oncehook_records USING/g, (found) => {
            parsed += 1;
            return parsed === 1 ? found.replace("records", "nothing") : found;
          });
          await expect(store.find(newRecord("e1"), within(5_000))).rejects.toThrow("oncehook_nothing");
          expect(await store.find(newRecord("e1"), within(5_000))).toBeUndefined();
          expect(parsed).toBe(2);
        } finally {
          await store.close();
        }
      }),
    ));
});

describe("searches for records at the same time on postgres", () => {
  it("parallel searches each find their own record", () =>
    withStore("postgres", async (store) => {
      for (const id of ["e1", "e3"]) await run(store, id);
      const ids = ["e1", "e2", "e3", "e4"];
      const found = await Promise.all(ids.map((id) => store.find(newRecord(id), within(5_000))));
      expect(found.map((record) => record?.eventId)).toEqual(["e1", undefined, "e3", undefined]);
      expect(found[0]).toMatchObject({ status: "completed", result: {}, version: "v1" });
      expect(found[0]?.processedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }));

  it("parallel searches wait only briefly for others on dead connections", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) });
        const find = (id: string, ms: number) => store.find(newRecord(id), within(ms));
        try {
          await Promise.all([store.ping(), find("e1", 5_000)]);
          wire.silence();
          const stuck = [find("e1", 5_000)];
          await nextTurn();
          await nextTurn();
          stuck.push(find("e2", 5_000));
          await nextTurn();
          await nextTurn();
          const ended: string[] = [];
          const all = Promise.allSettled(stuck).then(() => ended.push("stuck"));
          expect(await find("e3", 5_000)).toBeUndefined();
          expect(ended).toEqual([]);
          wire.cutAll();
          await all;
        } finally {
          wire.cutAll();
          await store.close();
        }
      }),
    ));
});

it("a statement that a handler names itself is kept under a name that follows from its text", () =>
  withStore(
    "postgres",
    async (store) => {
      const name = "mine";
      for (const [id, text] of [
        ["e1", "SELECT 1 AS one"],
        ["e2", "SELECT 2 AS two"],
        ["e3", "SELECT 1 AS one"],
      ] as const)
        await runOnce(
          store,
          newRecord(id),
          async ({ tx }) => {
            if (tx.dialect === "postgres") await tx.connection.query({ name, text });
            return { result: {} };
          },
          committing(),
        );
      const [row] = (await run(
        store,
        "e4",
        "SELECT count(*)::int AS kept FROM pg_prepared_statements WHERE name = 'mine'",
      )) as { kept: number }[];
      expect(row?.kept).toBe(0);
    },
    { poolSize: 1 },
  ));

it("no more than 64 texts of handlers are kept parsed on a connection to postgres", () =>
  withStore(
    "postgres",
    async (store) => {
      const texts = Array.from({ length: 80 }, (_, number) => `SELECT ${number}`);
      for (const id of ["e1", "e2"]) await run(store, id, ...texts);
      const kept = "SELECT count(*)::int AS kept FROM pg_prepared_statements WHERE statement ~ '^SELECT [0-9]+$'";
      const [row] = (await run(store, "e3", kept)) as { kept: number }[];
      expect(row?.kept).toBeGreaterThan(40);
      expect(row?.kept).toBeLessThanOrEqual(64);
    },
    { poolSize: 1 },
  ));
