import { describe, expect, it } from "vitest";
import { logEntryBytes } from "../../src/domain/index.ts";
import { DIALECTS, type Target, withStore } from "../support/databases.ts";
import { committing, countOf, newRecord, within } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure } from "../support/failure.ts";
import { listCallbacks } from "../support/list-callbacks.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);

const REFUSES_E2500 = {
  sqlite: `CREATE TRIGGER refuses BEFORE DELETE ON oncehook_preparations WHEN old.event_id = 'e2500'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  postgres: `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused''; END';
    CREATE TRIGGER refuses BEFORE DELETE ON oncehook_preparations FOR EACH ROW WHEN (old.event_id = 'e2500')
      EXECUTE FUNCTION refuse()`,
};

/** Records of these numbers, of redirects but for every hundredth. */
const insertRecords = (
  target: Target,
  [from, to]: readonly [number, number],
  time: Date,
  source = "CASE WHEN n % 100 = 0 THEN 'platform' ELSE 'oauth' END",
) =>
  execute(
    target,
    `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, result, created_at,
      processed_at) WITH RECURSIVE many (n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM many WHERE n < ${to})
      SELECT ${source}, 'e' || n, 't', 'v1', 'completed', 'ab', '{}', '${time.toISOString()}', '${time.toISOString()}'
      FROM many`,
  );

describe.each(DIALECTS)("lists, counters and retention on %s", (dialect) => {
  it("callbacks are listed newest first in pages, and by event", () =>
    withStore(dialect, async (store) => {
      const rows = [1, 2, 3].map((n) => logRow({ requestId: `r${n}`, eventId: n === 2 ? "e2" : "e1" }));
      await store.appendCallbacks(rows);
      const first = await listCallbacks(store, { limit: 2 });
      expect(first.map(({ requestId }) => requestId)).toEqual(["r3", "r2"]);
      const second = await listCallbacks(store, { limit: 2, before: first[1]!.id });
      expect(second.map(({ requestId }) => requestId)).toEqual(["r1"]);
      expect((await listCallbacks(store, { limit: 9 }, { eventId: "e1" })).map((row) => row.requestId)).toEqual([
        "r3",
        "r1",
      ]);
    }));

  it("log rows store text that PostgreSQL's text cannot hold", () =>
    withStore(dialect, async (store) => {
      const texts = ["url", "method", "eventId", "eventType", "requestHeaders", "requestBody", "responseBody"];
      const allOf = (text: string) => Object.fromEntries(texts.map((name) => [name, text]));
      await store.appendCallbacks([logRow({ ...allOf("a\u0000b"), error: "lone \ud800" })]);
      const [row] = await listCallbacks(store, { limit: 1 });
      expect(row).toMatchObject({ ...allOf("a\uFFFDb"), error: "lone \uFFFD" });
    }));

  it("simultaneous hits are all counted, and a new window starts at zero", () =>
    withStore(dialect, async (store) => {
      const counts = await Promise.all(Array.from({ length: 50 }, () => store.rateCounters.hit("k", 60_000, T0)));
      expect(Math.max(...counts.map(({ points }) => points))).toBe(50);
      expect(counts.every(({ resetAt }) => resetAt.getTime() === at(60).getTime())).toBe(true);
      expect((await store.rateCounters.hit("k", 60_000, at(59))).points).toBe(51);
      expect(await store.rateCounters.hit("k", 60_000, at(60))).toEqual({ points: 1, resetAt: at(120) });
      expect((await store.rateCounters.hit("other", 60_000, at(60))).points).toBe(1);
    }));

  it("a limit's window restarts when the clock was set back, and not for clocks that differ by seconds", () =>
    withStore(dialect, async (store) => {
      await store.rateCounters.hit("k", 60_000, at(21_600));
      expect(await store.rateCounters.hit("k", 60_000, at(21_593))).toEqual({
        points: 2,
        resetAt: at(21_660),
      });
      expect(await store.rateCounters.hit("k", 60_000, T0)).toEqual({ points: 1, resetAt: at(60) });
    }));

  it("a registered OAuth state is expected until it expires or is consumed", () =>
    withStore(dialect, async ({ redirectStates }) => {
      await redirectStates.register("hash", at(600), T0);
      expect(await redirectStates.isRegistered("hash", at(599), within(10_000))).toBe(true);
      expect(await redirectStates.isRegistered("hash", at(600), within(10_000))).toBe(false);
      expect(await redirectStates.isRegistered("another", T0, within(10_000))).toBe(false);
      await redirectStates.consume("hash");
      expect(await redirectStates.isRegistered("hash", T0, within(10_000))).toBe(false);
    }));

  it("a spent OAuth state is remembered until it expires, and deleted with the next one", () =>
    withStore(dialect, async (store) => {
      const { redirectStates } = store;
      await redirectStates.spend("first", at(600), T0);
      await redirectStates.spend("first", at(600), T0);
      expect([
        await redirectStates.isSpent("first", within(10_000)),
        await redirectStates.isSpent("other", within(10_000)),
      ]).toEqual([true, false]);
      await redirectStates.spend("second", at(1_200), at(600));
      expect(await redirectStates.isSpent("first", within(10_000))).toBe(false);
      expect(await redirectStates.isSpent("second", within(10_000))).toBe(true);
      const sweeping = { callbacks: T0, refusedRowsKept: 10, now: at(1_201) };
      expect(await store.retention.sweep(sweeping)).toMatchObject({ stale: 1 });
    }));

  it("the retention job deletes what has expired and keeps the rest, and deletes records only when configured", () =>
    withStore(
      dialect,
      async (store) => {
        for (const id of ["e1", "e2"]) await runOnce(store, newRecord(id), async () => ({ result: {} }), committing());
        const old = Array.from({ length: 2_500 }, () => logRow({ receivedAt: T0.toISOString() }));
        for (let from = 0; from < old.length; from += 500) await store.appendCallbacks(old.slice(from, from + 500));
        await store.appendCallbacks([logRow({ requestId: "new", receivedAt: at(100).toISOString() })]);
        await store.redirectStates.register("hash", at(10), T0);
        await store.rateCounters.hit("k", 1_000, T0);
        const now = at(3_600);
        expect(await store.retention.sweep({ callbacks: at(50), refusedRowsKept: 10_000, now })).toEqual({
          callbacks: 2_500,
          records: 0,
          stale: 2,
        });
        expect((await listCallbacks(store, { limit: 9 })).map(({ requestId }) => requestId)).toEqual(["new"]);
        expect(await store.find(newRecord("e1"), within(1_000))).toBeDefined();
        expect(
          await store.retention.sweep({ callbacks: at(50), refusedRowsKept: 10_000, records: at(1), now }),
        ).toMatchObject({ records: 1 });
        expect(await store.find(newRecord("e1"), within(1_000))).toBeUndefined();
      },
      { clock: { now: () => T0 } },
    ));

  it("the retention job keeps the records of redirects, which alone detect a replay", () =>
    withStore(dialect, async (store) => {
      for (const source of ["platform", "oauth"])
        await runOnce(store, newRecord("e1", { source }), async () => ({ result: {} }), committing());
      const limits = { callbacks: T0, records: new Date(Date.now() + 60_000), refusedRowsKept: 10, now: T0 };
      expect(await store.retention.sweep(limits)).toMatchObject({ records: 1 });
      expect((await store.records.list({ limit: 9 }, {})).map(({ source }) => source)).toEqual(["oauth"]);
    }));

  it("the retention job visits old records of redirects once, and those that became old since", () =>
    withStore(dialect, async (store, target) => {
      await insertRecords(target, [1, 2_500], T0);
      await insertRecords(target, [2_501, 2_601], at(100));
      const limits = { callbacks: T0, refusedRowsKept: 10, now: T0 };
      expect(await store.retention.sweep({ ...limits, records: at(50) })).toMatchObject({ records: 25 });
      // What the first sweep has passed would go if it were looked at.
      await execute(target, "UPDATE oncehook_records SET source = 'platform' WHERE event_id IN ('e1', 'e2001')");
      expect(await store.retention.sweep({ ...limits, records: at(50) })).toMatchObject({ records: 1 });
      expect(await store.retention.sweep({ ...limits, records: at(150) })).toMatchObject({ records: 1 });
      expect(await countOf(target, "oncehook_records", "source = 'platform'")).toBe(1);
    }));

  it("the retention job deletes a record once it is old, also among older ones", () =>
    withStore(dialect, async (store, target) => {
      const everyOne = "'platform'";
      await insertRecords(target, [1, 500], T0, everyOne);
      await insertRecords(target, [501, 501], at(100), everyOne);
      await insertRecords(target, [502, 1_001], T0, everyOne);
      const limits = { callbacks: T0, refusedRowsKept: 10, now: T0 };
      expect(await store.retention.sweep({ ...limits, records: at(50) })).toMatchObject({ records: 999 });
      expect(await store.retention.sweep({ ...limits, records: at(150) })).toMatchObject({ records: 1 });
    }));

  it("the retention job keeps the newest record, so that no later one has an id that it has passed", () =>
    withStore(dialect, async (store, target) => {
      await insertRecords(target, [1, 1_001], T0, "'platform'");
      const limits = { callbacks: T0, refusedRowsKept: 10, now: T0, records: at(50) };
      expect(await store.retention.sweep(limits)).toMatchObject({ records: 1_000 });
      await insertRecords(target, [1_002, 1_003], T0, "'platform'");
      expect(await store.retention.sweep(limits)).toMatchObject({ records: 2 });
      expect(await countOf(target, "oncehook_records", "event_id = 'e1003'")).toBe(1);
    }));

  it("the retention job bounds the number of rows without an event, keeps the newest, and leaves those of events", () =>
    withStore(dialect, async (store) => {
      const strangers = Array.from({ length: 1_500 }, (_, index) => logRow({ requestId: `s${index}` }));
      await store.appendCallbacks([logRow({ eventId: "e1" }), ...strangers]);
      const limits = { callbacks: new Date(0), refusedRowsKept: 20, now: new Date() };
      expect(await store.retention.sweep(limits)).toMatchObject({ callbacks: 1_480 });
      expect(await store.retention.sweep(limits)).toMatchObject({ callbacks: 0 });
      const left = await listCallbacks(store, { limit: 200 });
      expect(left).toHaveLength(21);
      expect([left[0]?.requestId, left.at(-1)?.eventId]).toEqual(["s1499", "e1"]);
    }));

  it("the retention job bounds the bytes of rows without an event, deletes the oldest first, and leaves those of events", () =>
    withStore(dialect, async (store) => {
      const requestBody = "ü".repeat(2_000);
      const strangers = Array.from({ length: 1_250 }, (_, index) => logRow({ requestId: `s${index}`, requestBody }));
      await store.appendCallbacks([logRow({ eventId: "e1", requestBody }), ...strangers]);
      const each = logEntryBytes(strangers[0] ?? logRow());
      expect(each).toBeGreaterThan(4_000);
      // Two processes at once: one of them leaves to the other what that is at.
      const bounds = Array.from({ length: 2 }, () => store.retention.trimRefused(each * 1_010 + 1));
      expect((await Promise.all(bounds)).reduce((sum, deleted) => sum + deleted)).toBe(240);
      expect(await store.retention.trimRefused(each * 1_010)).toBe(0);
      const limits = { callbacks: new Date(0), refusedRowsKept: 10_000, now: new Date() };
      expect(await store.retention.sweep({ ...limits, refusedBytes: each * 7 })).toMatchObject({
        callbacks: 1_003,
      });
      const left = await listCallbacks(store, { limit: 200 });
      expect(left.map(({ requestId, eventId }) => eventId ?? requestId)).toEqual([
        ...Array.from({ length: 7 }, (_, index) => `s${1_249 - index}`),
        "e1",
      ]);
    }));

  it("the row that stands for omitted log rows keeps their counts", () =>
    withStore(dialect, async (store) => {
      const time = T0.toISOString();
      const leftOut = { reason: "rejected_bound", count: 7, addresses: 2, first: time, last: time } as const;
      await store.appendCallbacks([logRow({ requestId: "some" }), logRow({ requestId: "many", leftOut })]);
      const rows = await listCallbacks(store, { limit: 9 });
      expect(rows.map((row) => [row.requestId, row.leftOut])).toEqual([
        ["many", leftOut],
        ["some", undefined],
      ]);
    }));

  it("the retention job keeps a failed event's prepare result as long as its failure", () =>
    withStore(dialect, async (store) => {
      const lease = { owner: "a", now: T0, until: at(30) };
      for (const eventId of ["failed", "forgotten"]) {
        await store.preparations.claim({ source: "platform", eventId }, lease);
        await store.preparations.save({ source: "platform", eventId }, "a", Buffer.of(1));
      }
      await store.failures.record(newFailure({ source: "platform", eventId: "failed" }, null), T0);
      const limits = { callbacks: T0, refusedRowsKept: 0, now: at(30 * 86_400) };
      expect(await store.retention.sweep(limits)).toMatchObject({ stale: 1 });
      expect(await store.preparations.get({ source: "platform", eventId: "failed" })).toBeDefined();
    }));

  it("the retention job deletes the old results of prepare steps a thousand at a time", () =>
    withStore(dialect, async (store, target) => {
      await execute(
        target,
        `INSERT INTO oncehook_preparations (source, event_id, created_at)
          WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 2500)
          SELECT 'platform', 'e' || (1000 + n), '2026-01-01T00:00:00.000Z' FROM many`,
      );
      // The second thousand cannot go, and the first has gone.
      await execute(target, REFUSES_E2500[dialect]);
      const limits = { callbacks: T0, refusedRowsKept: 0, now: at(30 * 86_400) };
      await expect(store.retention.sweep(limits)).rejects.toThrow();
      expect(await countOf(target, "oncehook_preparations")).toBe(1_500);
      await execute(target, `DROP TRIGGER refuses${dialect === "sqlite" ? "" : " ON oncehook_preparations"}`);
      expect(await store.retention.sweep(limits)).toMatchObject({ stale: 1_500 });
    }));

  it("a store answers a ping, and may be closed twice", () =>
    withStore(dialect, async (store) => {
      await store.ping();
      await store.close();
      await store.close();
      await expect(store.ping()).rejects.toThrow();
    }));
});
