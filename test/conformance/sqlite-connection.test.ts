import { DatabaseSync as Database, type DatabaseSync, type StatementSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { OnceScope, Store } from "../../src/store/index.ts";
import { databaseFile, type Target, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { runOnce } from "../support/once.ts";

const RESULT = { result: {} };
const driver = ({ tx }: OnceScope) => tx.connection as DatabaseSync;

describe("tx.connection on SQLite", () => {
  let target: Target;
  let store: Store;
  let events = 0;

  openForAllTests((untilTestsEnd) =>
    withStore(
      "sqlite",
      async (opened, at) => {
        [store, target] = [opened, at];
        await untilTestsEnd();
      },
      { migrations: [EFFECTS] },
    ),
  );

  const handled = (run: (connection: DatabaseSync) => unknown) =>
    runOnce(
      store,
      newRecord(`e${++events}`),
      async (scope) => {
        await run(driver(scope));
        return RESULT;
      },
      committing(),
    );
  const servesTheNextEvent = async () => {
    const id = `next${++events}`;
    await runOnce(store, newRecord(id), (scope) => addEffect(scope, id), committing());
    expect(await countOf(target, "effects", `event_id = '${id}'`)).toBe(1);
    await store.ping();
  };
  const insertTwo = (id: string) => `INSERT INTO effects (event_id) VALUES ('${id}'), ('${id}') RETURNING event_id`;

  it("a writing statement commits all rows although the handler left its iterator after the first", async () => {
    const first: unknown[] = [];
    await handled((connection) => first.push(connection.prepare(insertTwo("left")).iterate().next().value));
    expect(first).toEqual([{ event_id: "left" }]);
    expect(await countOf(target, "effects", "event_id = 'left'")).toBe(2);
    await servesTheNextEvent();
  });

  it("a writing statement rolls back where the handler left its iterator and threw", async () => {
    const failing = handled((connection) => {
      connection.prepare(insertTwo("thrown")).iterate().next();
      throw new Error("of its own");
    });
    await expect(failing).rejects.toThrow("of its own");
    expect(await countOf(target, "effects", "event_id = 'thrown'")).toBe(0);
    await servesTheNextEvent();
  });

  it.each<[string, (statement: StatementSync) => unknown]>([
    ["iterate", (statement) => statement.iterate().next()],
    ["get", (statement) => statement.get()],
  ])("%s() throws where a statement with RETURNING breaks a foreign key", async (_, step) => {
    const orphan = handled((connection) => {
      connection.exec("CREATE TABLE kin (id integer PRIMARY KEY, elder integer REFERENCES kin (id))");
      step(connection.prepare("INSERT INTO kin VALUES (1, 404) RETURNING id"));
    });
    await expect(orphan).rejects.toThrow("FOREIGN KEY constraint failed");
  });

  it("a reading iterator ends with the transaction, so that the writer reads no old snapshot", async () => {
    const kept: Iterator<unknown>[] = [];
    await handled((connection) => {
      connection.exec(insertTwo("read"));
      const rows = connection.prepare("SELECT event_id FROM effects WHERE event_id = 'read'").iterate();
      kept.push(rows);
      expect(rows.next()).toMatchObject({ done: false, value: { event_id: "read" } });
    });
    const other = new Database(databaseFile(target));
    other.exec("INSERT INTO effects (event_id) VALUES ('of another process')");
    other.close();
    await servesTheNextEvent();
    expect(() => kept[0]?.next()).toThrow("the transaction has ended");
  });

  it("iterate() returns the rows one by one, to loops and to iterator helpers", async () => {
    const found: unknown[] = [];
    await handled((connection) => {
      const numbers = connection.prepare(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
      );
      for (const row of numbers.iterate()) {
        found.push(row.i);
        if (row.i === 3) break;
      }
      const helped = numbers.iterate();
      found.push(...Reflect.get(helped, "take").call(helped, 2));
      found.push(...connection.prepare(insertTwo("loop")).iterate());
    });
    expect(found).toEqual([1, 2, 3, { i: 1 }, { i: 2 }, { event_id: "loop" }, { event_id: "loop" }]);
    await servesTheNextEvent();
  });

  it.each<[string, (connection: DatabaseSync) => unknown]>([
    ["limits", (connection) => Object.assign(Reflect.get(connection, "limits"), { sqlLength: 50 })],
    ["serialize", (connection) => Reflect.get(connection, "serialize").call(connection)],
    ["deserialize", (connection) => Reflect.get(connection, "deserialize").call(connection, new Uint8Array(8))],
    ["function", (connection) => connection.function("length", () => 0)],
    ["aggregate", (connection) => connection.aggregate("sum", { start: 0, step: () => 0 })],
    ["createSession", (connection) => connection.createSession()],
    ["applyChangeset", (connection) => connection.applyChangeset(new Uint8Array())],
    ["enableDefensive", (connection) => Reflect.get(connection, "enableDefensive").call(connection, false)],
    ["enableLoadExtension", (connection) => connection.enableLoadExtension(false)],
    ["valueOf", (connection) => connection.valueOf()],
    ["__defineGetter__", (connection) => Reflect.get(connection, "__defineGetter__")("exec", () => {})],
    ["loadExtension", (connection) => connection.loadExtension("/nowhere")],
  ])("tx.connection refuses %s with a TypeError that names what may be used", async (member, use) => {
    const refused = handled(use);
    await expect(refused).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(
      `may not use ${member} of the connection; it may use prepare, exec, isOpen, isTransaction, location`,
    );
    await servesTheNextEvent();
  });

  it("tx.connection refuses a member that a later version of Node adds, also on its statements", async () => {
    for (const [owner, use] of [
      [Database.prototype, (connection: DatabaseSync) => Reflect.get(connection, "ofTomorrow")],
      [
        Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1")),
        (connection: DatabaseSync) => Reflect.get(connection.prepare("SELECT 1"), "ofTomorrow"),
      ],
    ] as const) {
      Reflect.set(owner, "ofTomorrow", () => 1);
      try {
        await expect(handled(use)).rejects.toThrow("the handler may not use ofTomorrow of the");
      } finally {
        Reflect.deleteProperty(owner, "ofTomorrow");
      }
    }
  });

  it.each<[string, (connection: DatabaseSync) => object]>([
    ["the connection", (connection) => connection],
    ["a statement", (connection) => connection.prepare("SELECT 1")],
  ])("tx.connection refuses to change a property of %s", async (_what, of) => {
    const changes: ((of: object) => unknown)[] = [
      (it) => Object.assign(it, { exec: () => {} }),
      (it) => Object.defineProperty(it, "run", { value: () => {} }),
      (it) => Reflect.deleteProperty(it, "sourceSQL"),
      (it) => Object.setPrototypeOf(it, null),
      (it) => Object.freeze(it),
    ];
    for (const change of changes)
      await expect(handled((connection) => change(of(connection)))).rejects.toThrow("may not change");
    await servesTheNextEvent();
  });

  it("tx.connection keeps no setting of a statement for the next event with the same text", async () => {
    const text = "SELECT 1 AS one";
    await handled((connection) => {
      const statement = connection.prepare(text);
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      expect(statement.all()).toEqual([[1n]]);
      expect([statement.sourceSQL, statement.expandedSQL, statement.columns().length]).toEqual([text, text, 1]);
    });
    const rows: unknown[] = [];
    await handled((connection) => rows.push(connection.prepare(text).get()));
    await runOnce(
      store,
      newRecord("kept"),
      async ({ tx }) => {
        rows.push(...(await tx.execute(text)).rows);
        return RESULT;
      },
      committing(),
    );
    expect(rows).toEqual([{ one: 1 }, { one: 1 }]);
  });

  it("tx.connection looks like the driver's own: an instance of its class, with its state, and no promise", async () => {
    await handled(async (connection) => {
      expect(connection).toBeInstanceOf(Database);
      expect(connection.constructor).toBe(Database);
      expect([connection.isOpen, connection.isTransaction]).toEqual([true, true]);
      expect(connection.location()).toContain(databaseFile(target).split("/").at(-1));
      expect(await connection).toBe(connection);
    });
  });
});
