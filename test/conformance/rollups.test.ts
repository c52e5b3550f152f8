import { describe, expect, it } from "vitest";
import { AFTER_RESPONSE, type AfterResponse, type CallbackLogEntry } from "../../src/domain/index.ts";
import { DIALECTS, fullOnPostgres, withStore } from "../support/databases.ts";
import { logRow } from "../support/log-row.ts";

const NOON = new Date("2026-03-04T12:34:56.000Z");
const minutes = (count: number) => new Date(NOON.getTime() + count * 60_000);
const days = (count: number) => minutes(count * 1_440);
const seconds = (text: string) => Date.parse(text) / 1_000;
const LATER = "2026-03-04T12:34:57.250Z";
const DONE = { source: "platform", outcome: "success", bucket: 3, highestMs: 4.5, lastAt: NOON.toISOString() };

describe.each(DIALECTS)("the counts of the overview on %s", (dialect) => {
  it("the counts of all processes are added up, in periods of each span", () =>
    withStore(dialect, async ({ rollups }) => {
      await rollups.add(NOON, [
        { ...DONE, count: 2 },
        { ...DONE, source: "", outcome: "not_found", bucket: 0, count: 1, highestMs: null, lastAt: null },
      ]);
      await Promise.all([1, 2, 3, 4].map(() => rollups.add(NOON, [{ ...DONE, count: 10 }])));
      await rollups.add(minutes(1), [{ ...DONE, count: 7 }]);
      await rollups.add(NOON, [{ ...DONE, count: 1, highestMs: 4.75, lastAt: LATER }]);
      await rollups.add(NOON, [{ ...DONE, count: 1, highestMs: 3.5 }]);
      await rollups.add(minutes(2), []);
      const of = async (span: "hour" | "day" | "month") =>
        (await rollups.list(span, 0)).toSorted((a, b) => a.slot - b.slot || a.bucket - b.bucket);
      const refused = { source: "", outcome: "not_found", bucket: 0, count: 1, highestMs: null, lastAt: null };
      expect(await of("hour")).toEqual([
        { slot: seconds("2026-03-04T12:34:00Z"), ...refused },
        { slot: seconds("2026-03-04T12:34:00Z"), ...DONE, count: 44, highestMs: 4.75, lastAt: LATER },
        { slot: seconds("2026-03-04T12:35:00Z"), ...DONE, count: 7 },
      ]);
      expect(await of("day")).toEqual([
        { slot: seconds("2026-03-04T12:30:00Z"), ...refused },
        { slot: seconds("2026-03-04T12:30:00Z"), ...DONE, count: 51, highestMs: 4.75, lastAt: LATER },
      ]);
      expect(await of("month")).toEqual([
        { slot: seconds("2026-03-04T12:00:00Z"), ...refused },
        { slot: seconds("2026-03-04T12:00:00Z"), ...DONE, count: 51, highestMs: 4.75, lastAt: LATER },
      ]);
      expect(await rollups.list("hour", seconds("2026-03-04T12:35:00Z"))).toHaveLength(1);
    }));

  it("the callback of an accepted event that failed is counted once, in its period, and only with its row", () =>
    withStore(dialect, async (store) => {
      const { rollups, callbacks } = store;
      const came = (requestId: string, eventId: string, at: Date, over: Partial<CallbackLogEntry> = {}) =>
        logRow({ requestId, eventId, source: "shop/acme", outcome: "accepted", receivedAt: at.toISOString(), ...over });
      await store.appendCallbacks([
        came("old", "evt_1", days(-1)),
        came("first", "evt_1", NOON),
        came("again", "evt_1", minutes(1)),
        came("found", "evt_2", NOON, { method: "RECONCILE" }),
        came("handled", "evt_3", days(-1)),
      ]);
      const acceptedAt = minutes(2);
      const failed = (eventId: string, source = "shop/acme", outcome: AfterResponse = "accepted_failed") => {
        return { source, eventId, acceptedAt, outcome };
      };
      const waiting = [failed("evt_2"), failed("evt_3"), failed("evt_4")];
      const both = [failed("evt_1"), failed("evt_1", "shop/acme#audit")];
      expect(await rollups.addFailed([...both, ...waiting])).toEqual(waiting);
      await store.appendCallbacks([came("late", "evt_4", minutes(3))]);
      expect(await rollups.addFailed([failed("evt_4", "shop/acme", "accepted_rejected")])).toEqual([]);
      const counted = await rollups.list("hour", 0);
      expect(counted.toSorted((a, b) => a.slot - b.slot)).toMatchObject([
        { slot: seconds("2026-03-04T12:35:00Z"), source: "shop", outcome: "accepted_failed", bucket: -1, count: 1 },
        { slot: seconds("2026-03-04T12:37:00Z"), source: "shop", outcome: "accepted_rejected", bucket: -1, count: 1 },
      ]);
      const { callbacks: rows } = await callbacks.search(
        { outcomes: [...AFTER_RESPONSE] },
        { limit: 9, budgetMs: 500 },
      );
      expect(rows.map(({ requestId, outcome }) => [requestId, outcome])).toEqual([
        ["late", "accepted_rejected"],
        ["again", "accepted_failed"],
      ]);
    }));

  it(
    "the counts that no overview shows are deleted, those of short periods first",
    { tags: fullOnPostgres(dialect) },
    () =>
      withStore(dialect, async (store) => {
        const many = Array.from({ length: 1_500 }, (_, index) => minutes(index));
        for (const at of many) await store.rollups.add(at, [{ ...DONE, count: 1 }]);
        const limits = { callbacks: new Date(0), refusedRowsKept: 10 };
        const left = async (now: Date) => {
          await store.retention.sweep({ ...limits, now });
          const spans = ["hour", "day", "month"] as const;
          return Promise.all(spans.map(async (span) => (await store.rollups.list(span, 0)).length));
        };
        const before = await left(days(1));
        expect(before).toEqual([1_500, 101, 7]);
        expect(await left(new Date(days(2).getTime() + 1_400 * 60_000))).toEqual([99, 101, 7]);
        expect(await left(days(10))).toEqual([0, 4, 7]);
        expect(await left(days(100))).toEqual([0, 0, 0]);
      }),
  );
});
