import { describe, expect, it } from "vitest";
import { DIALECTS, fullOnPostgres, withStore } from "../support/databases.ts";

const NOON = new Date("2026-03-04T12:34:56.000Z");
const minutes = (count: number) => new Date(NOON.getTime() + count * 60_000);
const days = (count: number) => minutes(count * 1_440);
const seconds = (text: string) => Date.parse(text) / 1_000;
const DONE = { source: "platform", outcome: "success", bucket: 3 };

describe.each(DIALECTS)("the counts of the overview on %s", (dialect) => {
  it("the counts of all processes are added up, in periods of each span", () =>
    withStore(dialect, async ({ rollups }) => {
      await rollups.add(NOON, [
        { ...DONE, count: 2 },
        { ...DONE, source: "", outcome: "not_found", bucket: 0, count: 1 },
      ]);
      await Promise.all([1, 2, 3, 4].map(() => rollups.add(NOON, [{ ...DONE, count: 10 }])));
      await rollups.add(minutes(1), [{ ...DONE, count: 7 }]);
      await rollups.add(minutes(2), []);
      const of = async (span: "hour" | "day" | "month") =>
        (await rollups.list(span, 0)).toSorted((a, b) => a.slot - b.slot || a.bucket - b.bucket);
      const refused = { source: "", outcome: "not_found", bucket: 0, count: 1 };
      expect(await of("hour")).toEqual([
        { slot: seconds("2026-03-04T12:34:00Z"), ...refused },
        { slot: seconds("2026-03-04T12:34:00Z"), ...DONE, count: 42 },
        { slot: seconds("2026-03-04T12:35:00Z"), ...DONE, count: 7 },
      ]);
      expect(await of("day")).toEqual([
        { slot: seconds("2026-03-04T12:30:00Z"), ...refused },
        { slot: seconds("2026-03-04T12:30:00Z"), ...DONE, count: 49 },
      ]);
      expect(await of("month")).toEqual([
        { slot: seconds("2026-03-04T12:00:00Z"), ...refused },
        { slot: seconds("2026-03-04T12:00:00Z"), ...DONE, count: 49 },
      ]);
      expect(await rollups.list("hour", seconds("2026-03-04T12:35:00Z"))).toHaveLength(1);
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
