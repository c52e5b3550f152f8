import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OnceScope, type Store, sql } from "../../src/store/index.ts";
import { DIALECTS, openTarget, type Target, withDatabase, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";

const RESULT = { result: {} };

type Listener = (error: unknown) => void;
const ERRORS = ["unhandledRejection", "uncaughtException"];

/** While `use` runs, the process listens as an application's does. Without any listener Node would end it. */
async function listeningAs(listeners: Readonly<Record<string, Listener>>, use: () => Promise<void>): Promise<void> {
  const events: NodeJS.EventEmitter = process;
  const before = ERRORS.map((name) => ({ name, others: events.listeners(name) as Listener[] }));
  for (const name of ERRORS) events.removeAllListeners(name);
  for (const [name, listener] of Object.entries(listeners)) events.on(name, listener);
  try {
    await use();
    await nextTurn();
    expect(ERRORS.flatMap((name) => events.listeners(name))).toEqual(Object.values(listeners));
  } finally {
    for (const { name, others } of before) {
      events.removeAllListeners(name);
      for (const other of others) events.on(name, other);
    }
  }
}

const row = { event_id: "forgotten" };
const insert = "INSERT INTO effects (event_id) VALUES ('forgotten')";

/** Each way into `tx` that returns a promise, and what the error must show of it. */
const CALLS: [string, (scope: OnceScope) => Promise<unknown>, string][] = [
  ["tx.query.insertInto", ({ tx }) => tx.query.insertInto("effects").values(row).execute(), "insert into"],
  ["tx.query.updateTable", ({ tx }) => tx.query.updateTable("effects").set(row).execute(), "update "],
  ["tx.query.deleteFrom", ({ tx }) => tx.query.deleteFrom("effects").execute(), "delete from"],
  ["tx.query.selectFrom", ({ tx }) => tx.query.selectFrom("effects").selectAll().execute(), "select * from"],
  [
    "executeTakeFirst",
    ({ tx }) => tx.query.insertInto("effects").values(row).returningAll().executeTakeFirst(),
    "insert into",
  ],
  ["raw SQL", ({ tx }) => sql.raw(insert).execute(tx.query), "INSERT INTO effects"],
  ["tx.query.executeQuery", ({ tx }) => tx.query.executeQuery(sql.raw(insert).compile(tx.query)), "INSERT"],
  [
    "the schema builder",
    ({ tx }) => tx.query.schema.createTable("forgotten").addColumn("n", "integer").execute(),
    "create table",
  ],
  [
    "a query of withSchema",
    ({ tx }) => tx.query.withoutPlugins().insertInto("effects").values(row).execute(),
    "insert into",
  ],
  [
    "tx.query.connection",
    ({ tx }) => tx.query.connection().execute((query) => query.insertInto("effects").values(row).execute()),
    "insert into",
  ],
  [
    "a query with an abort signal",
    ({ tx }) => {
      const { signal } = new AbortController();
      return tx.query.insertInto("effects").values(row).execute({ signal });
    },
    "insert into",
  ],
  ["tx.execute", ({ tx }) => tx.execute(insert), "INSERT INTO effects"],
  ["enqueue", ({ enqueue }) => enqueue({ topic: "order.paid", payload: {} }), "notify"],
];

describe.each(DIALECTS)("a call that a handler does not await on %s", (dialect) => {
  const closed = Promise.withResolvers<void>();
  let store: Store;
  let target: Target;
  let database: Promise<void>;
  let events = 0;

  beforeAll(async () => {
    const opened = Promise.withResolvers<void>();
    database = withDatabase(dialect, async (fresh) => {
      target = fresh;
      ({ store } = await openTarget(fresh, { migrations: [EFFECTS] }));
      opened.resolve();
      await closed.promise;
      await store.close();
    });
    await Promise.race([opened.promise, database]);
  });

  afterAll(async () => {
    closed.resolve();
    await database;
  });

  const run = (handle: (scope: OnceScope) => unknown) =>
    runOnce(
      store,
      newRecord(`event-${++events}`),
      async (scope) => {
        await handle(scope);
        return RESULT;
      },
      committing(),
    );
  /** The same in company: on PostgreSQL its neighbours share a group with it. */
  const runInGroup = async (handle: (scope: OnceScope) => unknown) => {
    const neighbours = [1, 2, 3].map((number) => {
      const id = `neighbour-${++events}-${number}`;
      return runOnce(store, newRecord(id), (scope) => addEffect(scope, id), committing());
    });
    const ended = await Promise.allSettled([run(handle), ...neighbours]);
    expect(ended.slice(1).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
    return ended[0]!;
  };
  const nothingIsLeft = async () => {
    expect(await countOf(target, "effects", "event_id = 'forgotten'")).toBe(0);
    expect(await countOf(target, "oncehook_records", `event_id = 'event-${events}'`)).toBe(0);
    expect(await countOf(target, "oncehook_notifications")).toBe(0);
  };

  it.each(CALLS)("an unawaited call fails the event and is named in its error: %s", async (_way, call, shown) => {
    const hasty = (scope: OnceScope) => void call(scope);
    const alone = await run(hasty).catch((error: unknown) => error);
    expect(String(alone)).toContain(`the handler returned before this was finished: ${shown}`);
    await nothingIsLeft();
    const grouped = await runInGroup(hasty);
    expect(grouped).toMatchObject({ status: "rejected" });
    expect(String(Reflect.get(grouped, "reason"))).toContain(shown);
    expect(await countOf(target, "effects", "event_id = 'forgotten'")).toBe(0);
  });

  it("an unawaited call is found behind functions of the handler's own", async () => {
    const inner = async ({ tx }: OnceScope) => {
      await tx.query.insertInto("effects").values(row).execute();
    };
    const outer = async (scope: OnceScope) => {
      await inner(scope);
      await inner(scope);
    };
    await expect(run((scope) => void outer(scope).catch(() => {}))).rejects.toThrow("insert into");
    await nothingIsLeft();
  });

  it("an unawaited call is found wherever in a chain of statements the handler returns", async () => {
    const chain = async (scope: OnceScope, length: number) => {
      for (let step = 0; step < length; step += 1) await addEffect(scope, "forgotten");
    };
    for (let awaited = 0; awaited < 4; awaited += 1) {
      const ended = run(async (scope) => {
        void chain(scope, 12).catch(() => {});
        for (let step = 0; step < awaited; step += 1) await scope.tx.execute("SELECT 1");
      });
      await expect(ended).rejects.toThrow("insert into");
      await nothingIsLeft();
    }
  });

  it("an unawaited call is found where it starts in a microtask after the handler has returned", async () => {
    const late = async (scope: OnceScope, turns: number) => {
      for (let turn = 0; turn < turns; turn += 1) await null;
      await scope.tx.query.insertInto("effects").values(row).execute();
    };
    for (const turns of [1, 5, 30]) {
      await expect(run((scope) => void late(scope, turns).catch(() => {}))).rejects.toThrow("insert into");
      await nothingIsLeft();
    }
  });

  it("an unawaited call has no effect where the handler throws while it runs", async () => {
    const early = ({ tx }: OnceScope) =>
      Promise.all([
        tx.query.insertInto("effects").values(row).execute(),
        Promise.reject(new Error("early")),
        tx.execute(insert),
      ]);
    await expect(run(early)).rejects.toThrow("early");
    await nothingIsLeft();
    expect(await runInGroup(early)).toMatchObject({ status: "rejected" });
    await nothingIsLeft();
  });

  it("an unawaited call fails the event where its statement failed earlier, unseen by the handler", async () => {
    await listeningAs({}, async () => {
      const failing = run(async (scope) => {
        void scope.tx.execute("INSERT INTO nowhere VALUES (1)");
        await addEffect(scope, "forgotten").catch(() => {});
      });
      await expect(failing).rejects.toThrow("this failed and was not awaited: INSERT INTO nowhere");
    });
    await nothingIsLeft();
  });

  it("an unawaited call that failed earlier fails the event where the application has a listener of its own", async () => {
    const heard: unknown[] = [];
    await listeningAs({ unhandledRejection: (reason) => void heard.push(reason) }, async () => {
      const failing = run(async (scope) => {
        void scope.tx.execute("INSERT INTO nowhere VALUES (1)");
        await addEffect(scope, "forgotten").catch(() => {});
      });
      await expect(failing).rejects.toThrow("this failed and was not awaited: INSERT INTO nowhere");
    });
    expect(heard).toEqual([expect.objectContaining({ message: expect.stringContaining("nowhere") })]);
    await nothingIsLeft();
  });

  it("a rejection of the application's own is the process's, also in the turn of a failed call", async () => {
    const thrown: unknown[] = [];
    const other = new Error("the application's own");
    await listeningAs({ uncaughtException: (error) => void thrown.push(error) }, async () => {
      const failing = run(async ({ tx }) => {
        await tx.execute("INSERT INTO nowhere VALUES (1)").catch((error: unknown) => {
          void Promise.reject(other);
          throw error;
        });
      });
      await expect(failing).rejects.toThrow("nowhere");
    });
    expect(thrown).toEqual([other]);
    await nothingIsLeft();
  });

  it("an unawaited call whose statement fails makes no unhandled rejection, and the event reports it", async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", listener);
    try {
      const failing = run(({ tx }) => void tx.execute("INSERT INTO nowhere VALUES (1)"));
      await expect(failing).rejects.toThrow("INSERT INTO nowhere");
      await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      process.off("unhandledRejection", listener);
    }
    expect(unhandled).toEqual([]);
  });

  if (dialect === "postgres") {
    it("an unawaited call fails the event and is named in its error: tx.connection", async () => {
      const hasty = ({ tx }: OnceScope) => void (tx.connection as pg.ClientBase).query(insert);
      await expect(run(hasty)).rejects.toThrow("INSERT INTO effects");
      await nothingIsLeft();
    });
  }
});

it("an unawaited call that fails as its handler returns fails its event in a sequential group on postgres", () =>
  withStore(
    "postgres",
    async (store, target) => {
      // A database with a function has sequential groups alone.
      await execute(target, "CREATE FUNCTION one() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$");
      const hasty = async ({ tx }: OnceScope) => {
        void tx.execute("RESET ALL");
        // It has failed by then, and Node has not reported it yet.
        await new Promise<void>((resolve) => process.nextTick(resolve));
        return RESULT;
      };
      const deliver = (id: string, handle: (scope: OnceScope) => Promise<typeof RESULT>) =>
        runOnce(store, newRecord(id), handle, committing());
      await listeningAs({}, async () => {
        const ids = ["e1", "e2", "e3"];
        const neighbours = ids.map((id) => deliver(id, (scope) => addEffect(scope, id)));
        const failing = deliver("e0", hasty);
        await expect(failing).rejects.toThrow("this failed and was not awaited: RESET ALL");
        await Promise.all(neighbours);
        expect(await countOf(target, "effects")).toBe(ids.length);
      });
    },
    { migrations: [EFFECTS] },
  ));
