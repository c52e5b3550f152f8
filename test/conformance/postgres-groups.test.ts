import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type OnceScope, type Store, sql } from "../../src/store/index.ts";
import { openTarget, withDatabase, withStore } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { type Loss, withWire } from "../support/wire.ts";

const migrations = [EFFECTS];
const MEMBERS = 12;
const IDS = Array.from({ length: MEMBERS }, (_, number) => `e${number}`);
/** A group of them is done well within its time, also on a busy machine. */
const FEW = 4;
const MAX_ROUNDS = 40;

type Run = (scope: OnceScope, eventId: string) => ReturnType<typeof addEffect>;

const deliver = (store: Store, eventId: string, run: Run = addEffect) =>
  runOnce(store, newRecord(eventId), (scope) => run(scope, eventId), committing());
/** What comes after it in a handler depends on an answer, which no optimistic group allows. */
const dependently = ({ tx }: OnceScope) => sql`SELECT 1`.execute(tx.query);
const endings = async (deliveries: readonly ReturnType<typeof deliver>[]) =>
  (await Promise.all(deliveries)).map(({ kind }) => kind);
const ALL_COMPLETED = IDS.map(() => "completed");

describe("a group of events on postgres", () => {
  it("a group shares one transaction", () =>
    withStore(
      "postgres",
      async (store, target) => {
        expect(await endings(IDS.map((id) => deliver(store, id)))).toEqual(ALL_COMPLETED);
        const rows = await rowsOf(target, "SELECT DISTINCT xmin::text FROM oncehook_records");
        expect(rows).toHaveLength(1);
        expect(await countOf(target, "effects")).toBe(MEMBERS);
      },
      { migrations },
    ));

  it("an event that is in a group twice is handled once", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const twice = [...IDS, "e3"].map((id) => deliver(store, id));
        expect(await endings(twice)).toEqual([...ALL_COMPLETED, "duplicate"]);
        expect(await countOf(target, "effects")).toBe(MEMBERS);
      },
      { migrations },
    ));

  it("the notifications of each member are kept in order, and none of one that failed", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const run: Run = async (scope, eventId) => {
          for (const topic of ["a", "b", "c"]) await scope.enqueue({ topic, payload: { eventId } });
          if (eventId === "e5") throw new Error("down");
          return addEffect(scope, eventId);
        };
        await Promise.allSettled(IDS.map((id) => deliver(store, id, run)));
        const rows = await rowsOf(
          target,
          "SELECT event_id, string_agg(topic, '' ORDER BY position) AS topics FROM oncehook_notifications GROUP BY event_id",
        );
        expect(rows).toHaveLength(MEMBERS - 1);
        expect(rows.every(({ topics }) => topics === "abc")).toBe(true);
        expect(rows.map(({ event_id }) => event_id)).not.toContain("e5");
      },
      { migrations },
    ));

  it("handlers may wait between their statements", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const run: Run = async (scope, eventId) => {
          await addEffect(scope, eventId);
          await nextTurn();
          return addEffect(scope, eventId);
        };
        expect(await endings(IDS.map((id) => deliver(store, id, run)))).toEqual(ALL_COMPLETED);
        expect(await countOf(target, "effects")).toBe(2 * MEMBERS);
      },
      { migrations },
    ));

  it("a group ends after 80 ms, so that its first members do not wait for all later ones", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const unhurried: Run = async (scope, eventId) => {
          await dependently(scope);
          await sleep(12);
          return addEffect(scope, eventId);
        };
        expect(await endings(IDS.map((id) => deliver(store, id, unhurried)))).toEqual(ALL_COMPLETED);
        const rows = await rowsOf(target, "SELECT DISTINCT xmin::text FROM oncehook_records");
        expect(rows.length).toBeGreaterThan(1);
      },
      { migrations },
    ));

  it("a group does not wait for a slow member, and keeps nothing of its first run", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const gate = Promise.withResolvers<void>();
        const slow: Run = async (scope, eventId) => {
          const completion = await addEffect(scope, eventId);
          await gate.promise;
          return completion;
        };
        const delayed = deliver(store, "slow", slow);
        const others = IDS.map((id) => deliver(store, id));
        expect(await endings(others)).toEqual(ALL_COMPLETED);
        expect(await countOf(target, "effects", "event_id = 'slow'")).toBe(0);
        gate.resolve();
        expect((await delayed).kind).toBe("completed");
        expect(await countOf(target, "effects", "event_id = 'slow'")).toBe(1);
      },
      { migrations },
    ));

  it("a long group ends early, so that finished members get their responses before the others start", () =>
    withStore("postgres", async (store) => {
      const order: string[] = [];
      const run: Run = async (scope) => {
        order.push("begun");
        await dependently(scope);
        await sleep(20);
        await dependently(scope);
        return { result: {} };
      };
      const ids = Array.from({ length: 16 }, (_, number) => `e${number}`);
      await Promise.all(ids.map((id) => deliver(store, id, run).then(() => order.push("answered"))));
      expect(order.indexOf("answered")).toBeLessThan(order.lastIndexOf("begun"));
    }));

  it("a member that did not await its statement is refused, and the others are kept", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const hasty: Run = async (scope, eventId) => {
          void addEffect(scope, eventId).catch(() => {});
          return { result: {} };
        };
        const ended = await Promise.allSettled(IDS.map((id) => deliver(store, id, id === "e4" ? hasty : addEffect)));
        const rejected = ended.flatMap(({ status }, index) => (status === "rejected" ? [IDS[index]] : []));
        expect(rejected).toEqual(["e4"]);
        expect(await countOf(target, "effects")).toBe(MEMBERS - 1);
        expect(await countOf(target, "oncehook_records")).toBe(MEMBERS - 1);
      },
      { migrations },
    ));

  it("no member sees what another set for its transaction, not even by a function", () =>
    withStore(
      "postgres",
      async (store) => {
        const seen: unknown[] = [];
        const run: Run = async ({ tx }, eventId) => {
          const { rows } = await tx.execute(
            "SELECT current_setting('app.tenant', true) AS tenant, current_user = session_user AS is_itself",
          );
          seen.push([rows[0]?.tenant || null, rows[0]?.is_itself]);
          await tx.execute("SELECT set_tenant($1)", [eventId]);
          return { result: {} };
        };
        expect(await endings(IDS.map((id) => deliver(store, id, run)))).toEqual(ALL_COMPLETED);
        // One that took too long for its group has run again.
        expect(seen.length).toBeGreaterThanOrEqual(IDS.length);
        expect(seen).toEqual(seen.map(() => [null, true]));
      },
      { migrations: [TENANTS] },
    ));

  it.each<[string, (scope: OnceScope) => Promise<unknown>]>([
    ["a temporary table", ({ tx }) => tx.execute("CREATE TEMP TABLE t (n int) ON COMMIT DROP")],
    ["a setting", ({ tx }) => tx.execute("SET LOCAL statement_timeout = 1000")],
    ["the driver's own connection", ({ tx }) => (tx.connection as Queryable).query("SELECT 1")],
  ])("a member that uses %s leaves the group, and each member is kept", (_, use) =>
    withStore(
      "postgres",
      async (store, target) => {
        const run: Run = async (scope, eventId) => {
          await use(scope);
          return addEffect(scope, eventId);
        };
        const mixed = IDS.map((id, index) => deliver(store, id, index % 3 === 0 ? run : addEffect));
        expect(await endings(mixed)).toEqual(ALL_COMPLETED);
        expect(await countOf(target, "effects")).toBe(MEMBERS);
      },
      { migrations },
    ),
  );

  it("a member runs again alone also where its handler caught the refusal of its statement", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const block: Run = async ({ tx }, eventId) => {
          await tx.execute(`DO $$ BEGIN INSERT INTO effects (event_id) VALUES ('${eventId}'); END $$`).catch(() => {});
          return { result: {} };
        };
        expect(await endings(IDS.map((id) => deliver(store, id, block)))).toEqual(ALL_COMPLETED);
        expect(await countOf(target, "effects")).toBe(MEMBERS);
      },
      { migrations },
    ));

  it("events that failed in an earlier group run again", () =>
    withStore(
      "postgres",
      async (store, target) => {
        const failing: Run = () => Promise.reject(new Error("down"));
        const failed = await Promise.allSettled(IDS.map((id) => deliver(store, id, failing)));
        expect(failed.every(({ status }) => status === "rejected")).toBe(true);
        expect(await endings(IDS.map((id) => deliver(store, id)))).toEqual(ALL_COMPLETED);
        const rows = await rowsOf(target, "SELECT DISTINCT xmin::text FROM oncehook_records");
        // On a busy machine one or another is late and runs in its own transaction.
        expect(rows.length).toBeLessThan(MEMBERS);
      },
      { migrations },
    ));

  it("groups of two processes with the same events in opposite orders end, and handle each event once", () =>
    withDatabase("postgres", async (target) => {
      const opened = [await openTarget(target, { migrations }), await openTarget(target, { migrations })];
      const stores = opened.map(({ store }) => store);
      try {
        const rounds = stores.map((store, index) => {
          const ids = index === 0 ? IDS : IDS.toReversed();
          return endings(ids.map((id) => deliver(store, id)));
        });
        const all = (await Promise.all(rounds)).flat();
        expect(all.filter((ending) => ending === "completed")).toHaveLength(MEMBERS);
        expect(all.filter((ending) => ending === "duplicate")).toHaveLength(MEMBERS);
        expect(await countOf(target, "effects")).toBe(MEMBERS);
      } finally {
        for (const store of stores) await store.close();
      }
    }));

  it.each<[string, Loss, number, string]>([
    ["the answer of its COMMIT", "answer", FEW, "duplicate"],
    ["its COMMIT on the way", "commit", 0, "completed"],
  ])("a group that loses %s fails as a whole, and the redeliveries find out", (_, loss, kept, next) =>
    withDatabase("postgres", (target) =>
      withWire(target.url, async (wire) => {
        const { store } = await openTarget({ ...target, url: wire.through(target.url) }, { migrations });
        try {
          // On a busy machine one or another is late and runs in its own transaction: only a round of one transaction shows the group.
          for (let round = 1; ; round += 1) {
            expect(round, "a round in which all events share one transaction").toBeLessThan(MAX_ROUNDS);
            const prefix = `round-${round}-`;
            const ids = IDS.slice(0, FEW).map((id) => `${prefix}${id}`);
            // The lanes' connections are open then: whoever had to wait for one would leave the group.
            await Promise.all(ids.map((id) => deliver(store, `before-${id}`)));
            wire.loseNext(loss);
            const transactions: unknown[] = [];
            const run: Run = async (scope, eventId) => {
              const record = "SELECT xmin::text AS id FROM oncehook_records WHERE event_id = $1";
              transactions.push((await scope.tx.execute(record, [eventId])).rows[0]?.id);
              return addEffect(scope, eventId);
            };
            const deliveries = await Promise.allSettled(ids.map((id) => deliver(store, id, run)));
            if (transactions.length !== FEW || new Set(transactions).size > 1) continue;
            for (const delivery of deliveries)
              expect(delivery).toMatchObject({ reason: { name: "StoreError", reason: "commit_unknown" } });
            const ofRound = `event_id LIKE '${prefix}%'`;
            expect(await countOf(target, "effects", ofRound)).toBe(kept);
            expect(await endings(ids.map((id) => deliver(store, id)))).toEqual(ids.map(() => next));
            expect(await countOf(target, "effects", ofRound)).toBe(FEW);
            break;
          }
        } finally {
          await store.close();
        }
      }),
    ),
  );
});

interface Queryable {
  query(text: string): Promise<unknown>;
}

const TENANTS = {
  name: "test-tenants",
  async up({ query }: Parameters<typeof EFFECTS.up>[0]) {
    const body = "BEGIN PERFORM set_config('app.tenant', tenant, true), set_config('role', 'pg_monitor', true); END";
    await sql
      .raw(`CREATE FUNCTION set_tenant(tenant text) RETURNS void LANGUAGE plpgsql AS '${body.replaceAll("'", "''")}'`)
      .execute(query);
  },
};
