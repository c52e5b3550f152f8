import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createArrivalCounts } from "../../src/alerts/index.ts";
import { isSilent, silenceLimit } from "../../src/alerts/policy.ts";
import type { ArrivalDay } from "../../src/store/index.ts";
import { createChance } from "./chance.ts";

const FLOOR = 20;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Midnight of a Monday. */
const MONDAY = Date.parse("2026-03-02T00:00:00.000Z");
const TYPE = { source: "platform", eventType: "payment_notify" };

/** The rows that the store keeps of these times. */
function daysOf(times: readonly number[]): ArrivalDay[] {
  const days = new Map<number, ArrivalDay>();
  for (const [index, time] of times.entries()) {
    const day = Math.floor(time / DAY);
    const { count = 0, longestGapMs = 0 } = days.get(day) ?? {};
    const gap = time - (times[index - 1] ?? time);
    const changed = { count: count + 1, longestGapMs: Math.max(longestGapMs, gap), lastAt: new Date(time) };
    days.set(day, { ...TYPE, day, ...changed });
  }
  return [...days.values()];
}

/** A callback every `every` milliseconds between two hours of each day from Monday to `lastDay` (0 to 6), for some weeks. */
function regular(every: number, weeks: number, [opens, closes]: readonly [number, number], lastDay = 6): number[] {
  const times: number[] = [];
  for (let day = 0; day < weeks * 7; day += 1) {
    const midnight = MONDAY + day * DAY;
    if (day % 7 > lastDay) continue;
    for (let time = midnight + opens * HOUR; time <= midnight + closes * HOUR; time += every) times.push(time);
  }
  return times;
}

const limitOf = (times: readonly number[]) => silenceLimit(daysOf(times), FLOOR);

describe("the alert on silence", () => {
  it("the alert starts after four times the longest gap of the last seven days", () => {
    const times = regular(HOUR, 2, [8, 20]);
    const limit = limitOf(times);
    const lastAt = times.at(-1)!;
    expect(limit).toEqual({ lastAt: new Date(lastAt), limitMs: 4 * 12 * HOUR });
    const observed = new Date(MONDAY);
    expect(isSilent(limit!, observed, new Date(lastAt + 48 * HOUR - 1))).toBe(false);
    expect(isSilent(limit!, observed, new Date(lastAt + 48 * HOUR))).toBe(true);
  });

  it("the alert starts after an hour where callbacks arrive every minute", () => {
    expect(limitOf(regular(60_000, 2, [0, 23]).filter((time) => time % DAY < 23 * HOUR))?.limitMs).toBe(
      4 * (HOUR + 60_000),
    );
    const dense = Array.from({ length: 8 * 24 * 60 }, (_, minute) => MONDAY + minute * 60_000);
    expect(limitOf(dense)?.limitMs).toBe(HOUR);
  });

  it("a source that rests on weekends has a longer limit", () => {
    const fridays = regular(HOUR, 2, [8, 20], 4);
    expect(limitOf(fridays)?.limitMs).toBe(4 * 60 * HOUR);
  });

  it("the alert does not start in the first week of an event type", () => {
    expect(limitOf(regular(HOUR, 1, [8, 20]))).toBeUndefined();
    expect(limitOf([...regular(HOUR, 1, [8, 20]), MONDAY + 7 * DAY])).toBeDefined();
    expect(silenceLimit([], FLOOR)).toBeUndefined();
  });

  it("the alert does not start for an event type with fewer callbacks than the floor in seven days", () => {
    const perDay = regular(5 * HOUR, 2, [8, 20]);
    expect(silenceLimit(daysOf(perDay), 21)).toBeDefined();
    expect(silenceLimit(daysOf(perDay), 22)).toBeUndefined();
  });

  it("the alert forgets a gap after seven days", () => {
    const outage = regular(60_000, 4, [0, 24]).filter((time) => time < MONDAY + 8 * DAY || time >= MONDAY + 10 * DAY);
    const until = (day: number) => limitOf(outage.filter((time) => time < MONDAY + day * DAY))?.limitMs;
    expect(until(17)).toBe(4 * (2 * DAY + 60_000));
    expect(until(18)).toBe(HOUR);
  });

  it("the alert does not count the time in which no receiver was running", () => {
    const limit = { lastAt: new Date(MONDAY), limitMs: HOUR };
    const now = new Date(MONDAY + 10 * HOUR);
    expect(isSilent(limit, new Date(MONDAY + 9.5 * HOUR), now)).toBe(false);
    expect(isSilent(limit, new Date(MONDAY + 9 * HOUR), now)).toBe(true);
  });

  it("callbacks that arrive at random at a constant rate do not start the alert", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer(), (perHour, seed) => {
        const chance = createChance(seed);
        const times: number[] = [];
        for (let time = MONDAY; time < MONDAY + 21 * DAY; ) {
          times.push(time);
          time += Math.ceil((-Math.log(1 - chance()) * HOUR) / perHour);
        }
        const days = daysOf(times);
        for (const [index, time] of times.entries()) {
          const gap = time - (times[index - 1] ?? time);
          if (gap < HOUR) continue;
          // Before the gap: the rows of the days as they were then.
          const before = daysOf(times.slice(0, index));
          const limit = silenceLimit(before, FLOOR);
          if (limit !== undefined) expect(gap).toBeLessThan(limit.limitMs);
        }
        expect(days.length).toBeGreaterThan(20);
      }),
      { numRuns: 8 },
    );
  });
});

describe("the counter of authentic callbacks", () => {
  it("the counter counts events of known types by source, until the counts are taken", () => {
    const arrivals = createArrivalCounts(["payment_notify"]);
    for (let count = 0; count < 3; count += 1)
      arrivals.note("platform", { eventId: "e1", eventType: "payment_notify" });
    expect(arrivals.take()).toEqual([{ ...TYPE, count: 3 }]);
    expect(arrivals.take()).toEqual([]);
  });

  it("the counter counts no callback without a verified event id, and no type without a handler", () => {
    const arrivals = createArrivalCounts(["payment_notify"]);
    arrivals.note("platform", { eventType: "payment_notify" });
    for (const eventType of ["made_up", "__proto__"]) arrivals.note("platform", { eventId: "e1", eventType });
    arrivals.note("platform", { eventId: "e1" });
    expect(arrivals.take()).toEqual([]);
  });

  it("the counter adds counts again that could not be stored", () => {
    const arrivals = createArrivalCounts(["payment_notify"]);
    arrivals.note("platform", { eventId: "e1", eventType: "payment_notify" });
    const taken = arrivals.take();
    arrivals.note("platform", { eventId: "e2", eventType: "payment_notify" });
    arrivals.putBack(taken);
    expect(arrivals.take()).toEqual([{ ...TYPE, count: 2 }]);
  });
});
