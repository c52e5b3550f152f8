import type { EventKey } from "./event.ts";
import { getOrMake } from "./made-once.ts";
import { AFTER_RESPONSE, type AfterResponse } from "./outcome.ts";
import { outcomeGroup } from "./outcome-groups.ts";

/**
 * Counts of callbacks by time, outcome and latency. Each count is kept once for each span of the overview, in its periods.
 * So no overview reads more than a few thousand rows.
 */
export const OVERVIEW_RANGES = {
  hour: { stepSeconds: 60, steps: 60, keptSeconds: 2 * 86_400 },
  day: { stepSeconds: 900, steps: 96, keptSeconds: 9 * 86_400 },
  month: { stepSeconds: 14_400, steps: 180, keptSeconds: 92 * 86_400 },
} as const;

/** The counts of events' responses: of no request without an event, and no second count of a callback. */
export function eventResponses<Count extends { readonly outcome: string }>(counts: readonly Count[]): readonly Count[] {
  return counts.filter(
    ({ outcome }) => outcomeGroup(outcome) !== undefined && !AFTER_RESPONSE.some((one) => one === outcome),
  );
}

export type OverviewRange = keyof typeof OVERVIEW_RANGES;

/** In milliseconds: a bucket holds latencies up to its bound, the last one those above all bounds. */
const BOUNDS_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000,
];

/** The bucket of outcomes without a latency. */
export const NO_LATENCY = -1;

export interface RollupCount {
  readonly source: string;
  readonly outcome: string;
  /** Which of the bounds, from 0; or `NO_LATENCY`. */
  readonly bucket: number;
  readonly count: number;
}

/** The first attempt of an accepted event, which failed or was rejected. */
export interface FailedFirstAttempt extends EventKey {
  readonly acceptedAt: Date;
  readonly outcome: AfterResponse;
}

/** How many callbacks had each outcome. */
export function countByOutcome(counts: readonly Pick<RollupCount, "outcome" | "count">[]): Record<string, number> {
  const outcomes: Record<string, number> = {};
  for (const { outcome, count } of counts) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  return outcomes;
}

export function latencyBucket(ms: number): number {
  const bucket = BOUNDS_MS.findIndex((bound) => ms <= bound);
  return bucket === -1 ? BOUNDS_MS.length : bucket;
}

/**
 * The start of the period that holds this moment, in seconds since the epoch.
 * @param moment a number is in milliseconds since the epoch
 */
export function periodStart(moment: Date | number, stepSeconds: number): number {
  return Math.floor(Number(moment) / 1_000 / stepSeconds) * stepSeconds;
}

/**
 * The longest latency of the quickest `share`, in ms; null without counts. Latencies are taken as spread evenly within
 * their bucket, each in the middle of its part. So a single one is not said to be as slow as the bound.
 */
export function latencyQuantile(counts: readonly { bucket: number; count: number }[], share: number): number | null {
  const byBucket = new Map<number, number>();
  let total = 0;
  for (const { bucket, count } of counts) {
    if (bucket === NO_LATENCY) continue;
    byBucket.set(bucket, (byBucket.get(bucket) ?? 0) + count);
    total += count;
  }
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(share * total));
  let below = 0;
  for (const [bucket, count] of [...byBucket].toSorted(([a], [b]) => a - b)) {
    if (below + count >= rank) {
      const from = BOUNDS_MS[bucket - 1] ?? 0;
      const to = BOUNDS_MS[bucket] ?? from;
      return Math.round((from + ((rank - below - 0.5) / count) * (to - from)) * 100) / 100;
    }
    below += count;
  }
  return BOUNDS_MS.at(-1) ?? null;
}

/** Counts by source and subject, until they are written down. */
export function createSourceCounts() {
  let sources = new Map<string, Map<string, number>>();
  return {
    add(source: string, subject: string, by = 1): void {
      const subjects = getOrMake(sources, source, () => new Map<string, number>());
      subjects.set(subject, (subjects.get(subject) ?? 0) + by);
    },
    /** Returns the counts since the last call, and resets them. */
    take() {
      const taken = [...sources].flatMap(([source, subjects]) =>
        [...subjects].map(([subject, count]) => ({ source, subject, count })),
      );
      sources = new Map();
      return taken;
    },
  };
}
