import pg from "pg";
import { describe, expect, it } from "vitest";
import type { OnceScope, Store } from "../../src/store/index.ts";
import { openTarget, type Target, withDatabase } from "../support/databases.ts";
import { committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { runOnce } from "../support/once.ts";

const RESULT = { result: {} };
const driver = ({ tx }: OnceScope) => tx.connection as pg.Client;

/** Refuses the first COMMIT as a conflict of transactions; a sequence is not rolled back. */
const CONFLICT = {
  name: "test-conflict",
  async up({ execute }: Parameters<typeof EFFECTS.up>[0]) {
    await execute("CREATE SEQUENCE commits");
    await execute(`CREATE FUNCTION refuse_first() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
      IF nextval('commits') = 1 THEN RAISE SQLSTATE '40001'; END IF; RETURN NULL; END$$`);
    await execute(`CREATE CONSTRAINT TRIGGER conflicts AFTER INSERT ON effects
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.note = 'conflict') EXECUTE FUNCTION refuse_first()`);
  },
};

describe("a handler on postgres", () => {
  let target: Target;
  let store: Store;
  let events = 0;

  openForAllTests((untilTestsEnd) =>
    withDatabase("postgres", async (fresh) => {
      target = fresh;
      ({ store } = await openTarget(fresh, { migrations: [EFFECTS, CONFLICT] }));
      await untilTestsEnd();
      await store.close();
    }),
  );

  const handled = (run: (scope: OnceScope) => unknown) =>
    runOnce(
      store,
      newRecord(`e${++events}`, { eventType: `type_${events}` }),
      async (scope) => {
        await run(scope);
        return RESULT;
      },
      committing(),
    );

  it.each<[string, (scope: OnceScope) => unknown, string]>([
    ...["connect", "end", "release", "on", "removeAllListeners", "setTypeParser", "connection", "cancel"].map(
      (member): [string, (scope: OnceScope) => unknown, string] => [
        member,
        (scope) => Reflect.get(driver(scope), member),
        `may not use ${member} of the connection; it may use query, escapeIdentifier, escapeLiteral`,
      ],
    ),
    ["a query of a class of its own", (scope) => driver(scope).query(new pg.Query("SELECT 1")), "submit"],
    [
      "a statement with a callback",
      (scope) => driver(scope).query({ text: "SELECT 1", callback: () => {} } as pg.QueryConfig),
      "with a callback",
    ],
    ["a property", (scope) => Object.assign(driver(scope), { query: () => {} }), "may not change"],
    ["query with a callback", (scope) => driver(scope).query("SELECT 1", () => {}), "with a callback"],
    ["RESET", ({ tx }) => tx.execute("RESET search_path"), 'may not run "RESET'],
    ["DISCARD", ({ tx }) => tx.execute("DISCARD TEMP"), 'may not run "DISCARD'],
    ["DEALLOCATE", ({ tx }) => tx.execute("DEALLOCATE ALL"), 'may not run "DEALLOCATE'],
    ["SET SESSION", ({ tx }) => tx.execute("SET SESSION lock_timeout = 1"), "use SET LOCAL"],
  ])("a handler is refused %s of its connection", async (_what, run, why) => {
    await expect(handled(run)).rejects.toThrow(why);
  });

  it("a handler may use of its connection what changes nothing for later events", async () => {
    await handled(async (scope) => {
      const connection = driver(scope);
      const { rows } = await connection.query("SELECT pg_backend_pid() AS pid");
      expect(Reflect.get(connection, "processID")).toBe(rows[0].pid);
      expect([connection.escapeIdentifier("a b"), connection.escapeLiteral("it's")]).toEqual(['"a b"', "'it''s'"]);
      expect(connection.constructor).toBe(pg.Client);
      expect(await connection).toBe(connection);
    });
  });

  it.each<[string, (scope: OnceScope) => unknown, string]>([
    ["a statement with NUL", ({ tx }) => tx.execute("SELECT 1 -- \0"), "a statement for PostgreSQL cannot hold NUL"],
    ["a statement with NUL in a comment in front", ({ tx }) => tx.execute("/*\0*/ SELECT 1"), "cannot hold NUL"],
    ["a value with NUL", ({ tx }) => tx.execute("SELECT $1::text, $2::text", ["a", "b\0"]), "value 2 holds NUL"],
    [
      "a value of a query with NUL",
      ({ tx }) => tx.query.insertInto("effects").values({ event_id: "a\0" }).execute(),
      "value 1 holds NUL",
    ],
    ["a statement of its connection with NUL", (scope) => driver(scope).query("SELECT '\0'"), "cannot hold NUL"],
    ["a value of its connection with NUL", (scope) => driver(scope).query("SELECT $1", ["\0"]), "value 1 holds NUL"],
    [
      "values in an object with NUL",
      (scope) => driver(scope).query({ text: "SELECT $1::text", values: ["\0"] }),
      "value 1 holds NUL",
    ],
    ["an array with NUL", ({ tx }) => tx.execute("SELECT $1::text[]", [["\0"]]), "value 1 holds NUL"],
    ["too few values", ({ tx }) => tx.execute("SELECT $1::text, $2::text", ["a"]), "supplies 1 parameters"],
    ["COPY FROM STDIN", ({ tx }) => tx.execute("COPY effects FROM STDIN"), "COPY"],
    ["COPY FROM STDIN of its connection", (scope) => driver(scope).query("COPY effects FROM STDIN"), "COPY"],
  ])("a handler fails at once, and runs once, with %s", async (_what, run, why) => {
    let runs = 0;
    const began = performance.now();
    const failed = handled((scope) => {
      runs += 1;
      return run(scope);
    });
    await expect(failed).rejects.toThrow(why);
    await expect(failed).rejects.not.toMatchObject({ name: "StoreError" });
    expect(runs).toBe(1);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it("a handler may set what ends with its transaction", async () => {
    const run = async ({ tx }: OnceScope) => {
      for (const what of ["CONSTRAINTS ALL IMMEDIATE", "LOCAL lock_timeout = 100", "TRANSACTION READ WRITE"])
        await tx.execute(`SET ${what}`);
    };
    expect(await handled(run)).toMatchObject({ kind: "completed" });
  });

  it.each(["pg_current_xact_id()", "txid_current()"])(
    "each event has a %s of its own, also among simultaneous events",
    async (id) => {
      const ids: unknown[] = [];
      const all = [1, 2, 3, 4].map(() =>
        handled(async ({ tx }) => {
          await tx.execute(`SELECT ${id}::text AS id`).then(({ rows }) => ids.push(rows[0]?.id));
        }),
      );
      await Promise.all(all);
      // An event that had to leave a group has run twice.
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeGreaterThanOrEqual(all.length);
    },
  );

  it("a handler runs again where its COMMIT was refused for a conflict with another transaction", async () => {
    let runs = 0;
    const ending = await handled(async ({ tx }) => {
      runs += 1;
      await tx.execute("INSERT INTO effects (event_id, note) VALUES ('e', 'conflict')");
    });
    expect([ending.kind, runs]).toEqual(["completed", 2]);
    expect(await countOf(target, "effects", "note = 'conflict'")).toBe(1);
  });

  it("a handler fails at once, and runs once, where it made its transaction read-only unseen", async () => {
    let runs = 0;
    const failed = handled(async ({ tx }) => {
      runs += 1;
      await tx.execute("SELECT set_config('transaction_read_only', 'on', true)");
    });
    await expect(failed).rejects.toMatchObject({ code: "25006" });
    expect(runs).toBe(1);
  });
});
