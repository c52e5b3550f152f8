import { DatabaseSync as Database, type DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import type { OnceScope, Store } from "../../src/store/index.ts";
import { databaseFile, openTarget, withDatabase, withStore } from "../support/databases.ts";
import { committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const RESULT = { result: {} };
const driver = ({ tx }: OnceScope) => tx.connection as DatabaseSync;

it("a handler on SQLite takes no guard from its connection, and detaches and copies nothing", () =>
  withStore("sqlite", async (store) => {
    const misuses: [(scope: OnceScope) => unknown, string][] = [
      [(scope) => driver(scope).setAuthorizer(null), "may not use setAuthorizer of the connection"],
      [(scope) => driver(scope).open(), "may not use open of the connection"],
      [({ tx }) => tx.execute("DETACH main"), "another database would stay attached"],
      [({ tx }) => tx.execute("PRAGMA wal_checkpoint"), "PRAGMA wal_checkpoint would stay set"],
    ];
    for (const [misuse, why] of misuses) {
      const run = async (scope: OnceScope) => {
        await misuse(scope);
        return RESULT;
      };
      await expect(runOnce(store, newRecord("e1"), run, committing())).rejects.toThrow(why);
    }
  }));

it("a handler on SQLite that continues after a refused statement fails with what it throws then", () =>
  withStore("sqlite", async (store) => {
    const run = async ({ tx }: OnceScope) => {
      await expect(tx.execute("PRAGMA query_only = ON")).rejects.toThrow("not authorized");
      throw new Error("of its own");
    };
    await expect(runOnce(store, newRecord("e1"), run, committing())).rejects.toThrow("of its own");
  }));

/** It has no enumerable member, as amounts of many libraries have none. */
class Money {
  readonly #cents = 500;
  cents(): number {
    return this.#cents;
  }
}

it.each<[string, string, (scope: OnceScope) => unknown]>([
  [
    "tx.execute",
    "Money",
    ({ tx }) => tx.execute("UPDATE effects SET note = ? WHERE event_id = ?", [new Money(), "e0"]),
  ],
  [
    "tx.query",
    "Money",
    ({ tx }) => tx.query.updateTable("effects").set({ note: new Money() }).where("event_id", "=", "e0").execute(),
  ],
  ["tx.execute", "Array", ({ tx }) => tx.execute("INSERT INTO effects (event_id) VALUES (?)", [[]])],
  ["tx.execute", "Function", ({ tx }) => tx.execute("INSERT INTO effects (event_id) VALUES (?)", [() => {}])],
])("a value of %s on SQLite that is a %s fails the event with a TypeError", (_through, type, use) =>
  withStore(
    "sqlite",
    async (store) => {
      const run = async (scope: OnceScope) => {
        await use(scope);
        return RESULT;
      };
      const refused = runOnce(store, newRecord("e1"), run, committing());
      await expect(refused).rejects.toThrow(TypeError);
      await expect(refused).rejects.toThrow(`value 1 of the statement is of the type ${type}; expected`);
    },
    { migrations: [EFFECTS] },
  ),
);

it("an INSERT on SQLite that inserts nothing has no insertId, whatever an earlier event inserted", () =>
  withStore(
    "sqlite",
    async (store) => {
      const ids: unknown[] = [];
      const insert = async ({ tx }: OnceScope) => {
        const row = tx.query
          .insertInto("parents")
          .values({ id: 7 })
          .onConflict((on) => on.doNothing());
        ids.push((await row.executeTakeFirst()).insertId);
        return RESULT;
      };
      for (const id of ["e1", "e2"]) await runOnce(store, newRecord(id), insert, committing());
      expect(ids).toEqual([7n, undefined]);
    },
    { migrations: [EFFECTS] },
  ));

it("a disk that fails under a handler's statement on SQLite fails no event, and reports that the handler ran", () =>
  withStore("sqlite", async (store) => {
    const error = Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 778 });
    const lost = runOnce(store, newRecord("e1"), () => Promise.reject(error), committing());
    await expect(lost).rejects.toMatchObject({
      name: "StoreError",
      reason: "unavailable",
      handlerStarted: true,
    });
  }));

/** The driver's own connection, which a store gives to no handler. */
async function connectionOf(store: Store): Promise<DatabaseSync> {
  const { exec } = Database.prototype;
  let found: DatabaseSync | undefined;
  Database.prototype.exec = function (this: DatabaseSync, sql: string) {
    found = this;
    return Reflect.apply(exec, this, [sql]);
  };
  const run = async (scope: OnceScope) => {
    driver(scope).exec("SELECT 1");
    return RESULT;
  };
  try {
    await runOnce(store, newRecord("e0"), run, { ...committing(), mode: "dry-run" });
  } finally {
    Database.prototype.exec = exec;
  }
  if (found === undefined) throw new Error("the handler's statement did not reach the driver");
  return found;
}

it.each([
  ["is full", { errcode: 13, handlerStarted: true }, "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"],
  ["takes no writes", { errcode: 8, handlerStarted: false }, "PRAGMA query_only = ON", "PRAGMA query_only = OFF"],
])(
  "a database on SQLite that %s is unavailable to an event, reports whether the handler ran, and recovers",
  (_, { errcode, handlerStarted }, spoil, mend) =>
    withStore(
      "sqlite",
      async (store, target) => {
        const database = await connectionOf(store);
        const run = async ({ tx }: OnceScope) => {
          await tx.execute("INSERT INTO effects (event_id, note) VALUES ('e1', hex(zeroblob(100000)))");
          return RESULT;
        };
        database.exec(spoil);
        await expect(runOnce(store, newRecord("e1"), run, committing())).rejects.toMatchObject({
          name: "StoreError",
          reason: "unavailable",
          handlerStarted,
          cause: handlerStarted ? { cause: { errcode } } : { errcode },
        });
        database.exec(mend);
        expect((await runOnce(store, newRecord("e1"), run, committing())).kind).toBe("completed");
        expect(await countOf(target, "effects")).toBe(1);
      },
      { migrations: [EFFECTS] },
    ),
);

it("a record on SQLite that is not completed answers no delivery as done", () =>
  withStore("sqlite", async (store, target) => {
    const database = new Database(databaseFile(target));
    database.exec(`INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, created_at)
      VALUES ('platform', 'e1', 'payment_notify', 'v1', 'processing', '', '2026-01-01T00:00:00.000Z')`);
    database.close();
    expect(await store.find(newRecord("e1"), performance.now() + 1_000)).toBeUndefined();
    const again = runOnce(store, newRecord("e1"), async () => RESULT, committing());
    await expect(again).rejects.toThrow("is not completed");
  }));

it("a start on SQLite that is refused lets go of the file", () =>
  withDatabase("sqlite", async (target) => {
    await (await openTarget(target)).store.close();
    const migrations = [{ name: "broken", up: () => Promise.reject(new Error("no such luck")) }];
    await expect(openTarget(target, { migrations })).rejects.toThrow("no such luck");
    const other = new Database(databaseFile(target));
    // Refused as long as any other connection is open.
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    expect(other.prepare("PRAGMA journal_mode = DELETE").get()).toEqual({ journal_mode: "delete" });
    other.close();
  }));
