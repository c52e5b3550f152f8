import { DAY, HOUR, WEEK } from "../../src/alerts/policy.ts";

/** Chance that can be repeated (mulberry32). */
export function createChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How many come in a slot in which `mean` are expected, one by one and independent of each other. */
export function poisson(mean: number, chance: () => number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(chance)));
  const limit = Math.exp(-mean);
  let product = chance();
  let count = 0;
  while (product > limit) {
    product *= chance();
    count += 1;
  }
  return count;
}

function normal(chance: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
}

/** A Monday, at midnight. */
export const MONDAY = WEEK * 2_900 + 4 * DAY;

export interface Business {
  /** Callbacks an hour in the daytime of a working day. */
  readonly perHour: number;
  /** Of that at night and on week-ends, from 0. */
  readonly atNight: number;
  readonly opensAt: number;
  readonly closesAt: number;
}

/** How many are expected in a slot: a shop's hours, in the time zone of the numbers. */
export function expectedIn(slot: number, { perHour, atNight, opensAt, closesAt }: Business): number {
  const sinceMonday = (((slot - MONDAY) % WEEK) + WEEK) % WEEK;
  const day = Math.floor(sinceMonday / DAY);
  const hour = (sinceMonday % DAY) / HOUR;
  const isOpen = day < 5 && hour >= opensAt && hour < closesAt;
  return ((isOpen ? 1 : atNight) * perHour) / HOUR;
}

/** What came from one slot up to another, which is not among them. */
export function history(
  from: number,
  to: number,
  mean: (slot: number) => number,
  chance: () => number,
): Map<number, number> {
  const counts = new Map<number, number>();
  for (let slot = from; slot < to; slot += 1) {
    const count = poisson(mean(slot), chance);
    if (count > 0) counts.set(slot, count);
  }
  return counts;
}

/** Every slot, up to but not including `to`. */
export function allSlots(from: number, to: number): Set<number> {
  return new Set(Array.from({ length: to - from }, (_, index) => from + index));
}
