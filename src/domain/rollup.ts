import { isoTimeOf } from "./clock.ts";
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
  /** The highest latency of them; null or absent where it was not noted. */
  readonly highestMs?: number | null;
  /** When the last of them came; null or absent where it was not noted. */
  readonly lastAt?: string | null;
}

/** The first attempt of an accepted event, which failed or was rejected. */
export interface FailedFirstAttempt extends EventKey {
  readonly acceptedAt: Date;
  readonly outcome: AfterResponse;
}

export interface LastCallback {
  readonly at: string;
  /** The callback came at `at` where it is 0, and else in so many seconds from `at` on. */
  readonly withinSeconds: number;
}

/** The last callback of the counts of one span, in which it came; undefined for none. */
export function lastCallback(
  counts: readonly (Pick<RollupCount, "lastAt"> & { readonly slot: number })[],
  range: OverviewRange,
): LastCallback | undefined {
  if (counts.length === 0) return undefined;
  const slot = Math.max(...counts.map((count) => count.slot));
  const times = counts.flatMap((count) => (count.slot === slot && count.lastAt ? [count.lastAt] : []));
  const at = times.toSorted().at(-1);
  if (at !== undefined) return { at, withinSeconds: 0 };
  return { at: isoTimeOf(slot), withinSeconds: OVERVIEW_RANGES[range].stepSeconds };
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

/** No latency of a count is above it. A count of an earlier version has the bound of its bucket. */
export function highestLatency({ bucket, highestMs }: Pick<RollupCount, "bucket" | "highestMs">): number {
  return highestMs ?? BOUNDS_MS[bucket] ?? Number.POSITIVE_INFINITY;
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
 * their bucket, up to its highest one. So no quantile is above a latency that was counted, and the highest one is exact.
 */
export function latencyQuantile(
  counts: readonly Pick<RollupCount, "bucket" | "count" | "highestMs">[],
  share: number,
): number | null {
  const latencies = counts.filter(({ bucket }) => bucket !== NO_LATENCY);
  const total = latencies.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(share * total));
  const buckets = [...Map.groupBy(latencies, ({ bucket }) => bucket)].toSorted(([a], [b]) => a - b);
  let below = 0;
  for (const [bucket, rows] of buckets) {
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    if (below + count >= rank) return rounded(withinBucket(bucket, rows, (rank - below) / count, 1 / count));
    below += count;
  }
  return null;
}

/** @param part of the bucket's latencies up to this one; `step` is that of a single one */
function withinBucket(bucket: number, rows: readonly Pick<RollupCount, "highestMs">[], part: number, step: number) {
  const from = BOUNDS_MS[bucket - 1] ?? 0;
  const highest = rows.map(({ highestMs }) => highestMs ?? Number.NaN);
  const to = Math.max(...highest);
  if (!Number.isNaN(to)) return from + part * (to - from);
  // Each is in the middle of its part. So a single one is not said to be as slow as the bound.
  return from + (part - step / 2) * ((BOUNDS_MS[bucket] ?? from) - from);
}

function rounded(ms: number): number {
  return Math.floor(ms * 100) / 100;
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
