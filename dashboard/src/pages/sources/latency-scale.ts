import type { SourceHistoryView } from "oncehook/admin-client";

export const QUANTILES = [
  { name: "p50_ms", label: "p50" },
  { name: "p95_ms", label: "p95" },
  { name: "p99_ms", label: "p99" },
] as const;
export type Quantile = (typeof QUANTILES)[number]["name"];

type Buckets = SourceHistoryView["buckets"];

/** A logarithmic scale: a latency of 3 ms and a deadline of 10 s are both to be seen. */
export interface LatencyScale {
  /** Powers of ten in milliseconds, from the lowest to the highest one. */
  readonly decades: readonly number[];
  /** The distance from the top, in percent. */
  readonly topOf: (ms: number) => number;
}

/** From a power of ten to a little above the highest value or the deadline. It has at least 1 to 100 ms. */
export function latencyScale(buckets: Buckets, deadlineMs: number | null): LatencyScale {
  const values = buckets.flatMap((bucket) => QUANTILES.map(({ name }) => bucket[name])).filter((ms) => ms !== null);
  const lowest = Math.min(1, ...values);
  const highest = Math.max(100, deadlineMs ?? 0, ...values);
  const first = Math.max(-1, Math.floor(Math.log10(Math.max(lowest, 0.1))));
  const last = Math.log10(highest * 1.5);
  const topOf = (ms: number) => {
    const share = (Math.log10(Math.max(ms, 10 ** first)) - first) / (last - first);
    return Math.round((1 - share) * 10_000) / 100;
  };
  return { decades: Array.from({ length: Math.floor(last) - first + 1 }, (_, index) => 10 ** (first + index)), topOf };
}

/**
 * A line of steps, one a period: nothing is drawn between values, and nothing where no callback came. With fewer than
 * twenty callbacks p95 is the highest latency, as p99 is. So p95 is drawn where it differs.
 */
export function stepPath(buckets: Buckets, name: Quantile, { topOf }: LatencyScale): string {
  let path = "";
  let isOpen = false;
  for (const [index, bucket] of buckets.entries()) {
    const ms = bucket[name];
    if (ms === null || (name === "p95_ms" && ms === bucket.p99_ms)) {
      isOpen = false;
      continue;
    }
    const top = topOf(ms);
    path += isOpen ? `V${top}H${index + 1}` : `M${index} ${top}H${index + 1}`;
    isOpen = true;
  }
  return path;
}
