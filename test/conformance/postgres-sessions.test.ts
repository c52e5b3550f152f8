import pg from "pg";
import { describe, expect, it } from "vitest";
import { type OnceScope, type OpenedStore, type Store, sql } from "../../src/store/index.ts";
import { openTarget, type Target, withDatabase, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf, within } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { runOnce } from "../support/once.ts";
import { until } from "../support/until.ts";
import { withWire } from "../support/wire.ts";

interface Queryable {
  query(text: string): Promise<{ rows: Record<string, unknown>[] }>;
}

const RESULT = { result: {} };
const driver = ({ tx }: OnceScope) => tx.connection as Queryable;
const insert = (id: string) => `INSERT INTO effects (event_id) VALUES ('${id}')`;

const CAUGHT = "SELECT 'caught'";

/** Sends the statements past the guard, over the connection itself, as a library could that replaces the driver's methods. */
async function sendUnseen(scope: OnceScope, statements: string): Promise<void> {
  const { query } = pg.Client.prototype;
  let connection: pg.Client | undefined;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    if ((args[0] as { text?: unknown } | undefined)?.text === CAUGHT) connection = this;
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    await driver(scope).query(CAUGHT);
  } finally {
    pg.Client.prototype.query = query;
  }
  await connection?.query(`${insert("hidden")}; ${statements}`);
}

const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/** Functions and a trigger as users have them, which no text of a statement tells of. */
const FUNCTIONS = {
  name: "test-functions",
  async up({ query }: Parameters<typeof EFFECTS.up>[0]) {
    const define = (name: string, body: string) =>
      sql.raw(`CREATE FUNCTION ${name} LANGUAGE plpgsql AS $$BEGIN ${body} END$$`).execute(query);
    await define("hasten() RETURNS void", "PERFORM set_config('synchronous_commit', 'off', false);");
    await define("shadow() RETURNS void", "CREATE TEMP TABLE IF NOT EXISTS effects (event_id text, note text);");
    await define("take_lock() RETURNS void", "PERFORM pg_advisory_lock(8);");
    await define("hold_cursor() RETURNS void", "EXECUTE 'DECLARE held CURSOR WITH HOLD FOR SELECT 1';");
    await define("open_cursor() RETURNS void", "EXECUTE 'DECLARE opened CURSOR FOR SELECT 1';");
    await define("listen() RETURNS void", "EXECUTE 'LISTEN shop';");
    await sql.raw("CREATE TABLE commits (synchronous text, locks int)").execute(query);
    await define(
      "note_commit() RETURNS trigger",
      `INSERT INTO commits SELECT current_setting('synchronous_commit'), count(*)::int FROM pg_locks
        WHERE locktype = 'advisory' AND objid = 8; RETURN NULL;`,
    );
    const trigger = `CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON effects
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_commit()`;
    await sql.raw(trigger).execute(query);
  },
};

let target: Target;
let opened: OpenedStore;
let store: Store;

// One database and one connection for events alone: what stays on the connection meets the next event for certain.
openForAllTests((untilTestsEnd) =>
  withDatabase("postgres", async (fresh) => {
    target = fresh;
    opened = await openTarget(target, { migrations: [EFFECTS, FUNCTIONS], poolSize: 1 });
    store = opened.store;
    await untilTestsEnd();
    await store.close();
  }),
);

let events = 0;

/** Delivers one event whose handler does this and then writes its effect. @returns the event's id */
async function handled(run: (scope: OnceScope) => Promise<unknown>): Promise<string> {
  events += 1;
  const id = `e${events}`;
  await runOnce(
    store,
    newRecord(id),
    async (scope) => {
      await run(scope);
      return addEffect(scope, id);
    },
    committing(),
  );
  return id;
}

const IS_LOCK = "locktype = 'advisory' AND objid = 8";
const heldLocks = (on: Target) => countOf(on, "pg_locks", IS_LOCK);

async function locks({ tx }: OnceScope) {
  await tx.execute("SELECT take_lock()");
  return RESULT;
}

async function fails(scope: OnceScope): Promise<never> {
  await locks(scope);
  throw new Error("no");
}

async function breaksAtCommit(scope: OnceScope) {
  await scope.tx.execute("INSERT INTO children (parent_id) VALUES (404)");
  return locks(scope);
}

async function selected(statement: string): Promise<Record<string, unknown> | undefined> {
  let row: Record<string, unknown> | undefined;
  await handled(async ({ tx }) => {
    row = (await tx.execute(statement)).rows[0] as typeof row;
  });
  return row;
}

describe("a handler that ends the transaction through the driver on postgres", () => {
  it.each([
    "COMMIT",
    "; /* /* */ */ COMMIT AND CHAIN",
    "-- a line ends here too\rROLLBACK",
    "END",
    "ABORT/**/WORK",
    "PREPARE TRANSACTION 'p'",
  ])("a handler's %j is refused before it reaches the server", async (text) => {
    const ways: ((scope: OnceScope) => unknown)[] = [
      (scope) => driver(scope).query(text),
      ({ tx }) => tx.execute(text),
      ({ tx }) => sql.raw(text).execute(tx.query),
    ];
    for (const way of ways) {
      const run = handled(async (scope) => way(scope));
      await expect(run).rejects.toThrow(/may not run "(COMMIT|ROLLBACK|END|ABORT|PREPARE)/);
    }
    expect(await countOf(target, "oncehook_records", `event_id = 'e${events}'`)).toBe(0);
  });

  it.each([
    "SELECT 1; COMMIT; BEGIN",
    "CREATE DOMAIN atomic AS int; CREATE TABLE zz(begin atomic); COMMIT; BEGIN",
    "SET LOCAL standard_conforming_strings = off; SELECT 'a\\''; COMMIT; BEGIN; SELECT ''",
  ])("the server refuses a handler's %j, because it takes one statement in a text", async (text) => {
    const ways: ((scope: OnceScope) => unknown)[] = [
      (scope) => driver(scope).query(text),
      ({ tx }) => (tx.connection as pg.Client).query({ text, values: [] }),
      ({ tx }) => (tx.connection as pg.Client).query(text, []),
      ({ tx }) => tx.execute(text),
    ];
    for (const way of ways) {
      const run = handled(async (scope) => way(scope));
      await expect(run).rejects.toMatchObject({ code: "42601" });
    }
    expect(await countOf(target, "oncehook_records", `event_id = 'e${events}'`)).toBe(0);
  });

  it.each([
    "SELECT ';COMMIT;' AS \";commit\", $$; COMMIT; $$ /* ; COMMIT */ -- ; COMMIT",
    "SAVEPOINT a; -- the end",
    "CREATE OR REPLACE FUNCTION one() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; SELECT 1; END",
  ])("a handler may run %j, which ends nothing", async (text) => {
    const id = await handled((scope) => driver(scope).query(text));
    expect(await countOf(target, "effects", `event_id = '${id}'`)).toBe(1);
  });

  it("a handler that evades the guard fails, and no delivery of its event is acknowledged from then on", async () => {
    const committed = handled(async (scope) => {
      await sendUnseen(scope, "COMMIT; BEGIN");
    });
    await expect(committed).rejects.toThrow("the transaction was ended inside the handler");
    const record = newRecord(`e${events}`);
    expect(await countOf(target, "oncehook_records", `event_id = 'e${events}' AND status = 'processing'`)).toBe(1);
    expect(await countOf(target, "effects", `event_id = 'e${events}'`)).toBe(0);
    expect(await store.find(record, within(5_000))).toBeUndefined();
    const again = runOnce(store, record, (scope) => addEffect(scope, record.eventId), committing());
    await expect(again).rejects.toThrow("is not completed");
    await execute(target, "DELETE FROM oncehook_records WHERE status = 'processing'");
  });

  it("a handler that rolled its record back unseen fails, and the redelivery has its one effect", async () => {
    const undone = handled(async (scope) => {
      await sendUnseen(scope, "ROLLBACK; BEGIN");
    });
    await expect(undone).rejects.toThrow("the transaction was ended inside the handler");
    const id = `e${events}`;
    expect(await countOf(target, "effects", `event_id = '${id}'`)).toBe(0);
    const again = await runOnce(store, newRecord(id), (scope) => addEffect(scope, id), committing());
    expect(again.kind).toBe("completed");
    expect(await countOf(target, "effects", `event_id = '${id}'`)).toBe(1);
  });
});

describe("what a handler leaves on its connection to postgres", () => {
  it.each([
    "CREATE TEMP TABLE effects (event_id text, note text)",
    "CREATE TEMP TABLE oncehook_records (LIKE oncehook_records)",
    "SELECT 'x' AS event_id, '' AS note INTO TEMP effects",
    "SELECT shadow()",
  ])("a handler hides no table from its own event or from the next: %s", async (statement) => {
    const ids = [await handled(({ tx }) => tx.execute(statement)), await handled(async () => {})];
    for (const id of ids) {
      expect(await countOf(target, "effects", `event_id = '${id}'`)).toBe(1);
      expect(await countOf(target, "oncehook_records", `event_id = '${id}' AND status = 'completed'`)).toBe(1);
    }
    expect(await selected("SELECT count(*)::int AS n FROM pg_class WHERE relpersistence = 't'")).toEqual({
      n: 0,
    });
  });

  it.each([
    "SELECT set_config('default_transaction_read_only', 'on', false)",
    "SELECT set_config('search_path', 'pg_catalog', false)",
    "DO $$BEGIN SET SESSION statement_timeout = 9000; END$$",
    "DO $$BEGIN SET SESSION ROLE pg_monitor; END$$",
    "SELECT hasten()",
  ])("a handler leaves no setting behind: %s", async (statement) => {
    const settings = `SELECT current_setting('default_transaction_read_only') AS read_only,
      current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout,
      current_setting('synchronous_commit') AS synchronous, current_user = session_user AS is_itself`;
    const before = await selected(settings);
    const id = `e${events + 1}`;
    await handled(async (scope) => {
      // Its own effect comes first: what it sets may forbid it.
      await addEffect(scope, id);
      await scope.tx.execute(statement);
      await scope.tx.execute("SELECT set_config('search_path', 'public', true), set_config('role', 'none', true)");
    });
    expect(await selected(settings)).toEqual(before);
    await store.ping();
  });

  it.each([
    "SET LOCAL synchronous_commit = off",
    "SELECT set_config('synchronous_commit', 'off', true)",
    "DO $$BEGIN SET synchronous_commit = off; END$$",
    "SELECT hasten()",
  ])("a handler lets no COMMIT skip its flush: %s", async (statement) => {
    await execute(target, "TRUNCATE commits");
    await handled(({ tx }) => tx.execute(statement));
    expect(await rowsOf(target, "SELECT DISTINCT synchronous FROM commits")).toEqual([{ synchronous: "on" }]);
  });

  it("a handler's change to its role sets no default for connections that open later", async () => {
    const user = new URL(target.url).username;
    const name = new URL(target.url).pathname.slice(1);
    await handled(({ tx }) => tx.execute(`ALTER ROLE ${user} IN DATABASE ${name} SET synchronous_commit = off`));
    await execute(target, END_SESSIONS);
    await execute(target, "TRUNCATE commits");
    await handled(async () => {});
    expect(await rowsOf(target, "SELECT DISTINCT synchronous FROM commits")).toEqual([{ synchronous: "on" }]);
    await execute(target, `ALTER ROLE ${user} IN DATABASE ${name} RESET synchronous_commit`);
  });

  it.each([
    ["a held cursor", "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "pg_cursors WHERE name = 'c'"],
    ["a channel", "LISTEN shop", "pg_listening_channels()"],
    ["a prepared statement", "PREPARE mine AS SELECT 1", "pg_prepared_statements WHERE from_sql"],
    [
      "an advisory lock",
      "SELECT pg_advisory_lock(7)",
      "pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
    ],
  ])("a handler leaves %s on no connection", async (_, statement, view) => {
    await handled(({ tx }) => tx.execute(statement));
    expect(await selected(`SELECT count(*)::int AS n FROM ${view}`)).toEqual({ n: 0 });
  });

  it.each([
    ["an advisory lock", "SELECT take_lock()", `pg_locks WHERE ${IS_LOCK}`],
    ["a held cursor", "SELECT hold_cursor()", "pg_cursors WHERE name = 'held'"],
    ["a channel", "SELECT listen()", "pg_listening_channels()"],
  ])("a function that a plain statement calls leaves %s on no connection", async (_, statement, view) => {
    // The fourth of them has its text parsed already.
    for (let event = 0; event < 4; event += 1) await handled(({ tx }) => tx.execute(statement));
    expect(await selected(`SELECT count(*)::int AS n FROM ${view}`)).toEqual({ n: 0 });
  });

  it.each<[string, (eventId: string) => Promise<unknown>]>([
    ["fails", (id) => runOnce(store, newRecord(id), fails, committing())],
    ["is refused at its COMMIT", (id) => runOnce(store, newRecord(id), breaksAtCommit, committing())],
    ["is a dry run", (id) => runOnce(store, newRecord(id), locks, { ...committing(), mode: "dry-run" })],
  ])("an advisory lock ends where the event %s", async (what, run) => {
    await run(`lock ${what}`).catch(() => {});
    await handled(async () => {});
    expect(await heldLocks(target)).toBe(0);
  });

  it("an advisory lock lasts as long as the COMMIT of its event", async () => {
    await execute(target, "TRUNCATE commits");
    await handled(({ tx }) => tx.execute("SELECT take_lock()"));
    expect(await rowsOf(target, "SELECT locks FROM commits")).toEqual([{ locks: 1 }]);
    expect(await heldLocks(target)).toBe(0);
  });

  it("a handler that makes its transaction read-only fails at once, and is not retried until the deadline", async () => {
    let runs = 0;
    const run = handled(async ({ tx }) => {
      runs += 1;
      await tx.execute("SET TRANSACTION READ ONLY");
    });
    await expect(run).rejects.toMatchObject({ code: "25006" });
    expect(runs).toBe(1);
    await handled(async () => {});
  });
});

describe("what a member of a group leaves on its connection to postgres", () => {
  it("a member's cursor is gone before the next member runs", () =>
    withStore(
      "postgres",
      async (fresh) => {
        let runs = 0;
        const ids = ["c1", "c2", "c3", "c4"];
        const deliveries = ids.map((id) =>
          runOnce(
            fresh,
            newRecord(id),
            async ({ tx }) => {
              runs += 1;
              await tx.execute("SELECT open_cursor()");
              return RESULT;
            },
            committing(),
          ),
        );
        for (const { kind } of await Promise.all(deliveries)) expect(kind).toBe("completed");
        expect(runs).toBe(ids.length);
      },
      { migrations: [EFFECTS, FUNCTIONS] },
    ));

  it("a member's advisory lock is gone after the group, also where the member succeeded", () =>
    withStore(
      "postgres",
      async (fresh, its) => {
        const runs = ["l1", "l2", "l3", "l4"].map((id, index) =>
          runOnce(fresh, newRecord(id), index === 1 ? fails : locks, committing()),
        );
        await Promise.allSettled(runs);
        expect(await heldLocks(its)).toBe(0);
      },
      { migrations: [EFFECTS, FUNCTIONS] },
    ));
});

describe("a store on a postgres that takes no writes", () => {
  const setReadOnly = (on: Target, to: "on" | "off") => {
    const name = new URL(on.url).pathname.slice(1);
    return execute(on, `BEGIN READ WRITE; ALTER DATABASE ${name} SET default_transaction_read_only = ${to}; COMMIT`);
  };

  it("a store whose database takes no writes is not ready, and is ready again when it takes them", async () => {
    await setReadOnly(target, "on");
    await execute(target, END_SESSIONS);
    // The first may still meet the session that was ended.
    await store.ping().catch(() => {});
    await expect(store.ping()).rejects.toMatchObject({ code: "25006" });
    const refused = runOnce(store, newRecord("ro"), (scope) => addEffect(scope, "ro"), committing(300));
    await expect(refused).rejects.toMatchObject({ name: "StoreError", reason: "unavailable" });
    await setReadOnly(target, "off");
    // Connections from before would stay read-only; each is replaced after its first refusal.
    await store.ping().catch(() => store.ping());
    await handled(async () => {});
  });

  it("a group that could not write replaces its connection, and the next group shares a transaction", () =>
    withStore(
      "postgres",
      async (fresh, its) => {
        let runs = 0;
        const ids = Array.from({ length: 12 }, (_, number) => `ro-${number}`);
        const deliverAll = (prefix: string) =>
          Promise.all(
            ids.map((id) => {
              const run = (scope: OnceScope) => {
                runs += 1;
                return addEffect(scope, `${prefix}${id}`);
              };
              return runOnce(fresh, newRecord(`${prefix}${id}`), run, committing());
            }),
          );
        await setReadOnly(its, "on");
        await execute(its, END_SESSIONS);
        const refused = deliverAll("first-");
        await until(() => runs > 0);
        await setReadOnly(its, "off");
        await refused;
        await deliverAll("next-");
        const next = "SELECT DISTINCT xmin::text FROM oncehook_records WHERE event_id LIKE 'next-%'";
        expect(await rowsOf(its, next)).toHaveLength(1);
      },
      { migrations: [EFFECTS] },
    ));
});

describe("a group of events on postgres whose connection is dead without a word", () => {
  it("a group ends within its members' time, each with its effect or as unavailable", { tags: "full" }, () =>
    withStore("postgres", (_, fresh) =>
      withWire(fresh.url, async (wire) => {
        const through = await openTarget({ ...fresh, url: wire.through(fresh.url) }, { lockTimeoutMs: 500 });
        const ids = ["g1", "g2", "g3", "g4"];
        const limit = 3_500;
        const begun = performance.now();
        const deliveries = ids.map((id) =>
          runOnce(
            through.store,
            newRecord(id),
            async ({ tx }) => {
              wire.freeze();
              await tx.execute("SELECT 1");
              return RESULT;
            },
            committing(limit),
          ),
        );
        const all = await Promise.allSettled(deliveries);
        const unavailable = { status: "rejected", reason: { name: "StoreError", reason: "unavailable" } };
        expect(all).toMatchObject(ids.map(() => unavailable));
        expect(performance.now() - begun).toBeLessThan(limit + 2_000);
        expect(await countOf(fresh, "oncehook_records")).toBe(0);
        await through.store.close();
      }),
    ),
  );
});
