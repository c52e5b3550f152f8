import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type OnceScope, type Store, sql } from "../../src/store/index.ts";
import { nameOf } from "../../src/store/postgres/wire/prepared-names.ts";
import { openTarget, withDatabase, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";
import type { Target } from "../support/open-target.ts";
import { withWire } from "../support/wire.ts";

const migrations = [EFFECTS];
const ACCOUNT = "CREATE TABLE account (id text PRIMARY KEY, balance integer NOT NULL)";
const IDS = Array.from({ length: 12 }, (_, number) => `e${String(number).padStart(2, "0")}`);

const FEW = IDS.slice(0, 4);
const AT_ONCE = 25;
const RUNS_AGAIN = "this event runs again in another transaction";

type Run = (scope: OnceScope, eventId: string) => ReturnType<typeof addEffect>;

const deliver = (store: Store, eventId: string, run: Run = addEffect, eventType = "paid") =>
  runOnce(store, newRecord(eventId, { eventType }), (scope) => run(scope, eventId), committing());
const transactionsOf = (target: Target) =>
  rowsOf(target, "SELECT xmin::text, count(*)::int AS events FROM oncehook_records GROUP BY xmin ORDER BY 2");

describe("an optimistic group on postgres", () => {
  it("an optimistic group takes two round trips, however many members it has", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { migrations });
        try {
          await Promise.all(IDS.map((id) => deliver(store, `warm-${id}`)));
          let trips = 0;
          // A Sync ends what the client sends in one trip (manual, 54.2.3).
          // biome-ignore lint/suspicious/noControlCharactersInRegex: a message of the wire protocol
          wire.replace(/S\0\0\0\u0004/, (found) => {
            trips += 1;
            return found;
          });
          await Promise.all(IDS.map((id) => deliver(store, id)));
          expect(trips).toBe(2);
          expect(await countOf(target, "effects")).toBe(2 * IDS.length);
        } finally {
          await store.close();
        }
      }),
    ));

  describe.each([
    [
      "lock and read it before they write",
      async ({ tx }: OnceScope) => {
        const { rows } = await sql<{
          balance: number;
        }>`SELECT balance FROM account WHERE id = 'a' FOR UPDATE`.execute(tx.query);
        await sql`UPDATE account SET balance = ${(rows[0]?.balance ?? 0) + 1} WHERE id = 'a'`.execute(tx.query);
      },
    ],
    [
      "write by an expression and then read",
      async ({ tx }: OnceScope) => {
        await sql`UPDATE account SET balance = balance + 1 WHERE id = 'a'`.execute(tx.query);
        await sql`SELECT balance FROM account WHERE id = 'a'`.execute(tx.query);
      },
    ],
  ])("whose handlers %s", (_order, work) => {
    const expectNoLostUpdate = (events: number) =>
      withStore("postgres", async (store, target) => {
        await execute(target, ACCOUNT);
        await execute(target, "INSERT INTO account VALUES ('a', 0)");
        const run: Run = async (scope) => {
          await work(scope);
          return { result: {} };
        };
        for (let delivered = 0; delivered < events; delivered += AT_ONCE) {
          // Another type each time, of which the store knows nothing yet.
          const ids = Array.from({ length: AT_ONCE }, (_, number) => `e${delivered + number}`);
          await Promise.all(ids.map((id) => deliver(store, id, run, `type-${delivered}`)));
        }
        expect(await rowsOf(target, "SELECT balance FROM account")).toEqual([{ balance: events }]);
      });

    it("an optimistic group loses no update of one row in 500 events", { tags: "full" }, () => expectNoLostUpdate(500));

    it("an optimistic group loses no update of one row in 10,000 events", { tags: "full", timeout: 180_000 }, () =>
      expectNoLostUpdate(10_000),
    );
  });

  it("a sequential group knows which texts an optimistic group had parsed on its connection", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { migrations });
        let failures = 0;
        wire.replace(/prepared statement "[^"]*" (?:already exists|does not exist)/, (found) => {
          failures += 1;
          return found;
        });
        try {
          await Promise.all(IDS.map((id) => deliver(store, `first-${id}`)));
          const run: Run = async (scope, eventId) => {
            await scope.tx.execute("SELECT 1");
            return addEffect(scope, eventId);
          };
          for (const round of ["second", "third"])
            await Promise.all(IDS.map((id) => deliver(store, `${round}-${id}`, run)));
          expect(await countOf(target, "effects")).toBe(3 * IDS.length);
          expect(failures).toBe(0);
        } finally {
          await store.close();
        }
      }),
    ));

  it("an optimistic group sends a statement that a handler asks for while the first round trip is under way", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { migrations });
        try {
          await Promise.all(IDS.map((id) => deliver(store, `warm-${id}`)));
          const firstTrip = Promise.withResolvers<void>();
          wire.replace(/INSERT|oncehook_newest_function/i, (found) => {
            firstTrip.resolve();
            return found;
          });
          const runs: string[] = [];
          const run: Run = async (scope, eventId) => {
            runs.push(eventId);
            if (eventId === "e03") await firstTrip.promise;
            return addEffect(scope, eventId);
          };
          await Promise.all(IDS.map((id) => deliver(store, id, run)));
          expect(runs).toEqual(IDS);
          expect(await countOf(target, "effects")).toBe(2 * IDS.length);
        } finally {
          await store.close();
        }
      }),
    ));

  it("an optimistic group that is rolled back settles every statement that its handlers wait for", () =>
    withStore(
      "postgres",
      async (store, target) => {
        let started = 0;
        let ended = 0;
        const run: Run = async (scope, eventId) => {
          started += 1;
          try {
            return await addEffect(scope, eventId);
          } finally {
            ended += 1;
          }
        };
        await Promise.all(IDS.map((id) => deliver(store, `warm-${id}`)));
        await execute(target, "CREATE FUNCTION one() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$");
        await Promise.all(IDS.map((id) => deliver(store, id, run)));
        expect(started).toBeGreaterThan(IDS.length);
        expect(ended).toBe(started);
      },
      { migrations },
    ));

  it("an optimistic group returns a handler's rows as its own transaction would", () =>
    withStore("postgres", async (store) => {
      const rows: unknown[] = [];
      const run: Run = async ({ tx }) => {
        const found =
          await sql`SELECT 1 AS one, 2::bigint AS two, now() IS NOT NULL AS yes, '{"a": [1]}'::jsonb AS json,
          ARRAY['x', NULL] AS list, '\\xff'::bytea AS bytes, '2026-01-02T03:04:05Z'::timestamptz AS at,
          ${Buffer.of(1, 2)}::bytea AS given, ${new Date(0)}::timestamptz AS date, ${["p", "q"]}::text[] AS texts,
          ${true}::boolean AS truth, ${null}::text AS nothing`.execute(tx.query);
        rows.push(found.rows[0]);
        return { result: {} };
      };
      await deliver(store, "alone", run);
      await Promise.all(IDS.map((id) => deliver(store, id, run)));
      expect(rows).toHaveLength(IDS.length + 1);
      for (const row of rows) expect(row).toEqual(rows[0]);
      expect(rows[0]).toMatchObject({ one: 1, two: "2", json: { a: [1] }, list: ["x", null], truth: true });
    }));

  it.each(["lastval()", "currval('numbers_id_seq')"])(
    "an optimistic group returns no %s of another member's",
    (value) =>
      withStore("postgres", async (store, target) => {
        await execute(target, "CREATE TABLE numbers (id serial)");
        const pairs: unknown[][] = [];
        const run: Run = async ({ tx }) => {
          const [inserted, last] = await Promise.all([
            tx.execute("INSERT INTO numbers DEFAULT VALUES RETURNING id"),
            // Every member inserts before the first of them asks.
            nextTurn().then(() => tx.execute(`SELECT ${value}::int AS id`)),
          ]);
          pairs.push([last.rows, inserted.rows]);
          return { result: {} };
        };
        await Promise.all(IDS.map((id) => deliver(store, id, run)));
        expect(pairs.length).toBeGreaterThanOrEqual(IDS.length);
        for (const [last, inserted] of pairs) expect(last).toEqual(inserted);
      }),
  );

  it("an optimistic group shows no member what another has written between its statements", () =>
    withStore("postgres", async (store, target) => {
      await execute(target, ACCOUNT);
      await execute(target, "INSERT INTO account VALUES ('a', 0)");
      const run: Run = async ({ tx }) => {
        const [, { rows }] = await Promise.all([
          tx.execute("UPDATE account SET balance = balance + 1 WHERE id = 'a'"),
          // Every member has updated before the first of them reads.
          nextTurn().then(() => tx.execute("SELECT balance FROM account WHERE id = 'a'")),
        ]);
        return { result: { balance: Number(rows[0]?.balance) } };
      };
      const ended = await Promise.all(IDS.map((id) => deliver(store, id, run)));
      const balances = ended.map((one) => (one.kind === "completed" ? one.result.balance : undefined));
      expect(new Set(balances)).toEqual(new Set(IDS.map((_, index) => index + 1)));
    }));

  it("an optimistic group commits members that send several statements in one piece", () =>
    withStore("postgres", async (store, target) => {
      const run: Run = async ({ tx }) => {
        await Promise.all([tx.execute("SELECT 1"), tx.execute("SELECT 2")]);
        return { result: {} };
      };
      await Promise.all(IDS.map((id) => deliver(store, id, run)));
      expect(await transactionsOf(target)).toMatchObject([{ events: IDS.length }]);
    }));

  it("an optimistic group shows a failed statement's error to its own member alone, and excludes no other", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const errors: unknown[] = [];
        const runs = new Map<string, number>();
        const run: Run = async (scope, eventId) => {
          const number = (runs.get(eventId) ?? 0) + 1;
          runs.set(eventId, number);
          const statement = eventId === "e03" && number === 1 ? "SELECT 1 / 0" : "SELECT 1";
          const failed = await scope.tx.execute(statement).then(
            () => undefined,
            (error: Error) => error,
          );
          if (failed === undefined) return { result: {} };
          errors.push(`${eventId} ${failed.message}`);
          // For another's error no handler is to blame, whatever it sends then.
          return addEffect(scope, eventId);
        };
        await Promise.all(IDS.map((id) => deliver(store, id, run)));
        const expected = IDS.map((id) => `${id} ${id === "e03" ? "division by zero" : RUNS_AGAIN}`);
        expect(errors.toSorted()).toEqual(expected);
        expect(await transactionsOf(target)).toMatchObject([{ events: 1 }, { events: IDS.length - 1 }]);
      },
      { migrations },
    ));

  it("an optimistic group gives up no name of a failed statement that had none", () =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) });
        try {
          const text = "SELECT 'once' FROM not_there_yet";
          let named = 0;
          wire.replace(new RegExp(nameOf(text)), (name) => {
            named += 1;
            return name;
          });
          let runs = 0;
          const run: Run = async ({ tx }) => {
            runs += 1;
            await tx.execute(runs === 1 || runs > 2 * IDS.length ? text : "SELECT 1");
            return { result: {} };
          };
          await Promise.all(IDS.map((id) => deliver(store, id, run)));
          expect([runs > IDS.length, named]).toEqual([true, 0]);
          runs = 2 * IDS.length;
          await expect(deliver(store, "second", run)).rejects.toThrow("not_there_yet");
          expect(named).toBeGreaterThan(0);
        } finally {
          await store.close();
        }
      }),
    ));

  it("an optimistic group whose members have less than 3 s left after it leaves each to its own transaction", () =>
    withStore("postgres", async (store, target) => {
      let runs = 0;
      const run: Run = async ({ tx }, eventId) => {
        runs += 1;
        const slowly = eventId === "e03" ? "SELECT 1 / 0" : "SELECT pg_sleep(0.1)";
        await tx.execute(runs > FEW.length ? "SELECT 1" : slowly);
        return { result: {} };
      };
      const deliveries = FEW.map((id) => runOnce(store, newRecord(id), (scope) => run(scope, id), committing(3_200)));
      await Promise.all(deliveries);
      expect(await transactionsOf(target)).toMatchObject(FEW.map(() => ({ events: 1 })));
    }));

  it("an optimistic group waits for its answer as long as its statements may take together", { tags: "full" }, () =>
    withStore("postgres", async (store, target) => {
      let runs = 0;
      const run: Run = async ({ tx }) => {
        runs += 1;
        await tx.execute("SELECT pg_sleep(0.075)");
        return { result: {} };
      };
      const ids = Array.from({ length: 32 }, (_, number) => `e${number}`);
      await Promise.all(ids.map((id) => deliver(store, id, run)));
      expect(runs).toBe(ids.length);
      expect(await transactionsOf(target)).toMatchObject([{ events: ids.length }]);
    }),
  );

  it("an optimistic group excludes a member that failed before its first statement, and commits the others", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const runs: string[] = [];
        const run: Run = async (scope, eventId) => {
          runs.push(eventId);
          if (eventId === "e03") throw new Error("of its own");
          return addEffect(scope, eventId);
        };
        const ended = await Promise.allSettled(IDS.map((id) => deliver(store, id, run)));
        expect(ended.filter(({ status }) => status === "rejected")).toMatchObject([
          { reason: { message: "of its own" } },
        ]);
        expect(runs).toEqual(IDS);
        expect(await transactionsOf(target)).toMatchObject([{ events: IDS.length - 1 }]);
      },
      { migrations },
    ));

  it("an optimistic group undoes a member that failed after its statement, and keeps the others", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const run: Run = async (scope, eventId) => {
          const completion = await addEffect(scope, eventId);
          if (eventId === "e03") throw new Error("of its own");
          return completion;
        };
        const ended = await Promise.allSettled(IDS.map((id) => deliver(store, id, run)));
        expect(ended.filter(({ status }) => status === "rejected")).toMatchObject([
          { reason: { message: "of its own" } },
        ]);
        expect(await countOf(target, "effects", "event_id = 'e03'")).toBe(0);
        expect(await countOf(target, "effects")).toBe(IDS.length - 1);
      },
      { migrations },
    ));

  it("an optimistic group finds out at its commit that another process has completed one of its events, and handles the others", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const other = (await openTarget(target, { migrations })).store;
        const ended = await Promise.all([
          ...IDS.map((id) => deliver(store, id)),
          ...IDS.map((id) => deliver(other, id)),
        ]);
        await other.close();
        const kinds = ended.map(({ kind }) => kind).toSorted();
        expect(kinds).toEqual([...IDS.map(() => "completed"), ...IDS.map(() => "duplicate")]);
        expect(await countOf(target, "effects")).toBe(IDS.length);
        expect(await countOf(target, "oncehook_records")).toBe(IDS.length);
      },
      { migrations },
    ));

  it("an optimistic group switches to savepoints once the database has a function that may change a setting", () =>
    withStore("postgres", async (store, target) => {
      const seen: unknown[] = [];
      const run: Run = async ({ tx }) => {
        const { rows } = await sql<{
          tag: string;
        }>`SELECT coalesce(current_setting('app.tag', true), '') AS tag`.execute(tx.query);
        seen.push(rows[0]?.tag);
        return { result: {} };
      };
      await Promise.all(IDS.map((id) => deliver(store, `before-${id}`, run)));
      expect(await transactionsOf(target)).toMatchObject([{ events: IDS.length }]);
      await execute(
        target,
        `CREATE FUNCTION tag() RETURNS text LANGUAGE sql AS $$ SELECT set_config('app.tag', 'left', false) $$`,
      );
      const tagging: Run = async ({ tx }) => {
        await sql`SELECT tag()`.execute(tx.query);
        return { result: {} };
      };
      await Promise.all(IDS.map((id, index) => deliver(store, id, index % 2 === 0 ? tagging : run)));
      expect(new Set(seen)).toEqual(new Set([""]));
    }));

  it("an optimistic group keeps the log entries, notifications and failures of its events as single transactions do", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const run: Run = async (scope, eventId) => {
          await scope.enqueue({
            topic: "order.paid",
            payload: { text: 'a "quoted" \\ text, {braces}, NULL and ,' },
          });
          await scope.enqueue({ topic: "order.sent", payload: { eventId } });
          return addEffect(scope, eventId);
        };
        await Promise.all(IDS.map((id) => deliver(store, id, run)));
        const notifications = await rowsOf(
          target,
          "SELECT DISTINCT position, topic, payload FROM oncehook_notifications WHERE topic = 'order.paid'",
        );
        expect(notifications.map(({ payload }) => JSON.parse(String(payload)))).toEqual([
          { text: 'a "quoted" \\ text, {braces}, NULL and ,' },
        ]);
        expect(await countOf(target, "oncehook_notifications")).toBe(2 * IDS.length);
        expect(await store.find(newRecord("e03"), performance.now() + 1_000)).toMatchObject({
          status: "completed",
        });
      },
      { migrations },
    ));
});
