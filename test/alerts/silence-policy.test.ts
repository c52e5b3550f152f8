import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DAY,
  evaluateSilence,
  HOUR,
  missing,
  type SilenceHistory,
  usualOf,
  WEEK,
} from "../../src/alerts/policy.ts";
import { allSlots, type Business, createChance, expectedIn, history, MONDAY, poisson } from "./histories.ts";

const FLOOR = 20;
const SHOP: Business = { perHour: 40, atNight: 0, opensAt: 8, closesAt: 20 };
const at = (week: number, day: number, hour: number) =>
  MONDAY + week * WEEK + day * DAY + Math.round(hour * HOUR);

/** A live source, judged at the end of every slot; resolves with the slots in which an alert would begin, up to `most`. */
function alertsOf(
  counts: ReadonlyMap<number, number>,
  from: number,
  to: number,
  over: Partial<SilenceHistory> = {},
): number[] {
  const firstSlot = Math.min(...counts.keys());
  const serving = allSlots(firstSlot, to);
  const found: number[] = [];
  let lastSlot = firstSlot;
  const seen = new Map<number, number>();
  for (let slot = firstSlot; slot < to; slot += 1) {
    const known = { slot, firstSlot, lastSlot, serving, counts: seen, ...over };
    if (slot >= from && evaluateSilence(known, FLOOR) === "begins") found.push(slot);
    const count = counts.get(slot);
    if (count !== undefined) {
      seen.set(slot, count);
      lastSlot = slot;
    }
  }
  return found;
}

const business = fc.record({
  perHour: fc.integer({ min: 1, max: 600 }),
  atNight: fc.constantFrom(0, 0.02, 0.3, 1),
  opensAt: fc.integer({ min: 5, max: 11 }),
  closesAt: fc.integer({ min: 12, max: 22 }),
});

describe("the silence of an event type", () => {
  it("never pages while callbacks come as usual, whatever the hours of the shop", () => {
    fc.assert(
      fc.property(business, fc.integer(), (shop, seed) => {
        const counts = history(
          at(0, 0, 0),
          at(8, 0, 0),
          (slot) => expectedIn(slot, shop),
          createChance(seed),
        );
        fc.pre(counts.size > 0);
        expect(alertsOf(counts, at(0, 0, 0), at(8, 0, 0))).toEqual([]);
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  it("is told when twenty are missing, and half an hour later at the latest", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 600 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer(),
        (perHour, day, seed) => {
          const shop = { ...SHOP, perHour };
          const silentFrom = at(5, day, 10);
          const counts = history(
            at(0, 0, 0),
            silentFrom,
            (slot) => expectedIn(slot, shop),
            createChance(seed),
          );
          const [first] = alertsOf(counts, silentFrom, silentFrom + 8 * HOUR);
          const needed = (FLOOR / perHour) * HOUR;
          expect(first).toBeDefined();
          expect(first! - silentFrom).toBeGreaterThan(Math.min(needed / 3, 3));
          // Chance makes one week in three a thin one.
          expect(first! - silentFrom).toBeLessThanOrEqual(Math.max(2.5 * needed, 4) + HOUR / 2);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is told within two hours where forty an hour are usual", () => {
    const silentFrom = at(5, 2, 13);
    const counts = history(at(0, 0, 0), silentFrom, (slot) => expectedIn(slot, SHOP), createChance(1));
    expect(alertsOf(counts, silentFrom, silentFrom + 2 * HOUR).length).toBeGreaterThan(0);
  });

  it("that begins at night is told in the morning, on a Monday too", () => {
    const silentFrom = at(5, 4, 23);
    const counts = history(at(0, 0, 0), silentFrom, (slot) => expectedIn(slot, SHOP), createChance(2));
    const [first] = alertsOf(counts, silentFrom, at(6, 1, 0));
    expect(first).toBeGreaterThan(at(6, 0, 8));
    expect(first).toBeLessThan(at(6, 0, 11));
  });

  it("is not told in the first two weeks, when nobody knows what is usual", () => {
    const silentFrom = at(1, 2, 10);
    const counts = history(at(0, 0, 0), silentFrom, (slot) => expectedIn(slot, SHOP), createChance(3));
    expect(alertsOf(counts, at(0, 0, 0), at(2, 0, 0))).toEqual([]);
  });

  it("is not told of the hour by which a morning moves when summer time ends", () => {
    const moved = at(5, 0, 0);
    const chance = createChance(4);
    const counts = history(
      at(0, 0, 0),
      at(6, 0, 0),
      (slot) => expectedIn(slot < moved ? slot : slot - HOUR, SHOP),
      chance,
    );
    expect(alertsOf(counts, at(0, 0, 0), at(6, 0, 0))).toEqual([]);
  });

  it("is not told of a source that has become quiet before: fewer are missing then", () => {
    const quietFrom = at(5, 0, 0);
    const mean = (slot: number) => expectedIn(slot, slot < quietFrom ? SHOP : { ...SHOP, perHour: 1 });
    const counts = history(at(0, 0, 0), at(6, 0, 0), mean, createChance(5));
    expect(alertsOf(counts, quietFrom + DAY, at(6, 0, 0))).toEqual([]);
  });

  it("is not told where forty come at once each hour and one batch is late", () => {
    const counts = new Map<number, number>();
    for (let slot = at(0, 0, 0); slot < at(6, 0, 0); slot += HOUR) counts.set(slot, 40);
    const late = at(5, 2, 14);
    counts.delete(late);
    counts.set(late + 8, 40);
    expect(alertsOf(counts, at(0, 0, 0), at(6, 0, 0))).toEqual([]);
  });

  it("counts only while a receiver was there to be called", () => {
    const silentFrom = at(5, 2, 10);
    const to = silentFrom + 4 * HOUR;
    const counts = history(at(0, 0, 0), silentFrom, (slot) => expectedIn(slot, SHOP), createChance(6));
    const known = { slot: to, firstSlot: at(0, 0, 0), lastSlot: silentFrom - 1, counts };
    expect(evaluateSilence({ ...known, serving: allSlots(silentFrom, to) }, FLOOR)).toBe("begins");
    const restarted = allSlots(to - 2, to);
    expect(evaluateSilence({ ...known, serving: restarted }, FLOOR)).toBe("unchanged");
    expect(missing({ ...known, serving: new Set() })).toEqual({ callbacks: 0, slots: 0 });
  });

  it("outlives an earlier week in which nothing came", () => {
    const silentFrom = at(5, 2, 10);
    const holiday = (slot: number) => slot >= at(3, 0, 0) && slot < at(4, 0, 0);
    const mean = (slot: number) => (holiday(slot) ? 0 : expectedIn(slot, SHOP));
    const counts = history(at(0, 0, 0), silentFrom, mean, createChance(7));
    expect(alertsOf(counts, silentFrom, silentFrom + 3 * HOUR).length).toBeGreaterThan(0);
  });

  it("is over with the first callback, and goes on until then", () => {
    const known = { slot: 900, firstSlot: 0, serving: new Set<number>(), counts: new Map(), openedIn: 800 };
    expect(evaluateSilence({ ...known, lastSlot: 790 }, FLOOR)).toBe("unchanged");
    expect(evaluateSilence({ ...known, lastSlot: 899 }, FLOOR)).toBe("over");
  });
});

describe("what is usual", () => {
  it("is never the largest of several weeks, and nothing without any", () => {
    expect(usualOf([])).toBeUndefined();
    expect([usualOf([5]), usualOf([9, 5]), usualOf([9, 5, 7]), usualOf([0, 9, 5, 7])]).toEqual([5, 5, 7, 5]);
  });

  it("is drawn by the tests as it is meant: the mean of a Poisson number is its parameter", () => {
    const chance = createChance(8);
    for (const mean of [0.5, 3, 80]) {
      const drawn = Array.from({ length: 5_000 }, () => poisson(mean, chance));
      const average = drawn.reduce((sum, one) => sum + one, 0) / drawn.length;
      expect(Math.abs(average - mean)).toBeLessThan(0.1 * mean);
    }
  });
});
