import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chanceOfSoFew,
  DAY,
  evaluateSignatures,
  HOUR,
  type SlotCounts,
  WEEK,
} from "../../src/alerts/policy.ts";
import { type Business, createChance, expectedIn, history, MONDAY } from "./histories.ts";

const SHOP: Business = { perHour: 40, atNight: 0, opensAt: 8, closesAt: 20 };
const at = (week: number, day: number, hour: number) =>
  MONDAY + week * WEEK + day * DAY + Math.round(hour * HOUR);
const BEGIN = at(0, 0, 0);

/** The slots in which the alert would begin, and those in which it would be over, judged at the end of each slot. */
function changes(authentic: SlotCounts, refused: SlotCounts, from: number, to: number) {
  const found: { begun: number[]; over: number[] } = { begun: [], over: [] };
  let state: { openedIn?: number; closedIn?: number } = {};
  const firstSlot = Math.min(...authentic.keys());
  const past = (counts: SlotCounts, slot: number): SlotCounts => ({
    ...counts,
    get: (one: number) => (one > slot ? undefined : counts.get(one)),
  });
  for (let slot = from; slot < to; slot += 1) {
    const known = { slot, authentic: past(authentic, slot), refused: past(refused, slot), firstSlot };
    const verdict = evaluateSignatures({ ...known, ...state });
    if (verdict === "begins") {
      state = { openedIn: slot };
      found.begun.push(slot);
    } else if (verdict === "over") {
      state = { closedIn: slot };
      found.over.push(slot);
    }
  }
  return found;
}

/** Authentic callbacks of a shop that are refused instead between two slots. */
function failingBetween(shop: Business, from: number, to: number, end: number, seed: number, share = 1) {
  const chance = createChance(seed);
  const all = history(BEGIN, end, (slot) => expectedIn(slot, shop), chance);
  const authentic = new Map<number, number>();
  const refused = new Map<number, number>();
  for (const [slot, count] of all) {
    const lost =
      slot >= from && slot < to
        ? Array.from({ length: count }, chance).filter((drawn) => drawn < share).length
        : 0;
    if (count > lost) authentic.set(slot, count - lost);
    if (lost > 0) refused.set(slot, lost);
  }
  return { authentic, refused };
}

describe("failing signatures", () => {
  it("are not told of, however many strangers knock, while the platform's callbacks come as usual", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 600 }),
        fc.constantFrom(0, 0.02, 0.3, 1),
        fc.integer({ min: 0, max: 5_000 }),
        fc.integer(),
        (perHour, atNight, knocks, seed) => {
          const chance = createChance(seed);
          const shop = { ...SHOP, perHour, atNight };
          const end = at(3, 0, 0);
          const authentic = history(BEGIN, end, (slot) => expectedIn(slot, shop), chance);
          const refused = history(at(1, 0, 0), end, () => knocks / HOUR, chance);
          expect(changes(authentic, refused, at(1, 0, 1), end).begun).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it("are told of within an hour and a half where forty an hour are usual, once, and are over soon after", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 5 }),
        fc.integer(),
        (week, day, seed) => {
          const weekday = Math.min(day, 4);
          const [from, to] = [at(week + 1, weekday, 10), at(week + 1, weekday, 15)];
          const { authentic, refused } = failingBetween(SHOP, from, to, at(week + 1, weekday, 19), seed);
          const { begun, over } = changes(authentic, refused, from - 2 * HOUR, at(week + 1, weekday, 19));
          expect(begun).toHaveLength(1);
          expect(begun[0]! - from).toBeLessThanOrEqual(1.5 * HOUR);
          expect(over).toHaveLength(1);
          expect(over[0]).toBeGreaterThanOrEqual(to);
          expect(over[0]! - to).toBeLessThanOrEqual(1.25 * HOUR);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("of a source that sends three an hour are told of within a day", () => {
    const quiet = { perHour: 3, atNight: 1, opensAt: 0, closesAt: 24 };
    const from = at(5, 1, 0);
    const { authentic, refused } = failingBetween(quiet, from, at(7, 0, 0), at(6, 0, 0), 11);
    const [begun = 0] = changes(authentic, refused, from - DAY, at(6, 0, 0)).begun;
    expect(begun - from).toBeGreaterThan(HOUR);
    expect(begun - from).toBeLessThanOrEqual(DAY);
  });

  it("that begin at night are told of in the morning", () => {
    const from = at(5, 0, 2);
    const { authentic, refused } = failingBetween(SHOP, from, at(6, 0, 0), at(5, 1, 0), 12);
    const [begun = 0] = changes(authentic, refused, from - HOUR, at(5, 1, 0)).begun;
    expect(begun).toBeGreaterThan(at(5, 0, 8));
    expect(begun).toBeLessThan(at(5, 0, 9));
  });

  it("on the first day of a source are told of by what came just before", () => {
    const from = at(0, 0, 15);
    const { authentic, refused } = failingBetween(SHOP, from, at(0, 0, 20), at(0, 0, 20), 13);
    const [begun = 0] = changes(authentic, refused, BEGIN, at(0, 0, 20)).begun;
    expect(begun - from).toBeLessThanOrEqual(1.5 * HOUR);
    expect(begun).toBeGreaterThanOrEqual(from);
  });

  it("are not told of where a source never had a good one", () => {
    const refused = history(BEGIN, BEGIN + DAY, () => 10, createChance(14));
    const known = { slot: BEGIN + HOUR, authentic: new Map(), refused, firstSlot: BEGIN + HOUR };
    expect(evaluateSignatures(known)).toBe("unchanged");
  });

  it("are not told of on a holiday on which a few strangers knock and nobody else", () => {
    const holiday = at(5, 1, 0);
    const mean = (slot: number) => (slot < holiday ? expectedIn(slot, SHOP) : 0);
    const authentic = history(BEGIN, at(5, 2, 0), mean, createChance(15));
    const refused = history(holiday, at(5, 2, 0), () => 4 / HOUR, createChance(16));
    expect(changes(authentic, refused, holiday, at(5, 2, 0)).begun).toEqual([]);
  });

  it("are not told of where a busy platform sends a third less while many strangers knock", () => {
    const busy = { ...SHOP, perHour: 6_000, atNight: 1 };
    const less = at(5, 1, 0);
    const mean = (slot: number) => expectedIn(slot, busy) * (slot < less ? 1 : 2 / 3);
    const authentic = history(BEGIN, at(5, 2, 0), mean, createChance(17));
    const refused = history(less, at(5, 2, 0), () => 9_000 / HOUR, createChance(18));
    expect(changes(authentic, refused, less, at(5, 2, 0)).begun).toEqual([]);
  });

  it("do not open and close in turn where half of a platform's callbacks fail for a day", () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 400 }), fc.integer(), (perHour, seed) => {
        const shop = { ...SHOP, perHour, atNight: 1 };
        const [from, to] = [at(5, 1, 0), at(5, 2, 0)];
        const { authentic, refused } = failingBetween(shop, from, to, to, seed, 0.5);
        expect(changes(authentic, refused, from, to).begun.length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 25 },
    );
  });
});

describe("the chance of so few", () => {
  it("is a bound from above for the exact one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 60 }), (now, before) => {
        const all = now + before;
        let term = 0.5 ** all;
        let exact = term;
        for (let k = 1; k <= now; k += 1) {
          term *= (all - k + 1) / k;
          exact += term;
        }
        expect(chanceOfSoFew(now, before)).toBeGreaterThanOrEqual(Math.min(exact, 1) - 1e-9);
      }),
    );
    expect(chanceOfSoFew(0, 7)).toBeCloseTo(0.5 ** 7, 10);
    expect(chanceOfSoFew(7, 7)).toBe(1);
  });
});
