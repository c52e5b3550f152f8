import { describe, expect, it } from "vitest";
import { latencyBucket, latencyQuantile, periodStart } from "../../src/domain/index.ts";

describe("durations that are counted in buckets", () => {
  it("a duration falls into the first bucket whose bound it does not exceed, or into the last one", () => {
    expect([0, 0.4, 1, 1.01, 10, 60_000, 60_001].map(latencyBucket)).toEqual([0, 0, 0, 1, 5, 22, 23]);
  });

  it("p50 and p99 lie within the bucket that holds them", () => {
    const of = (...durations: number[]) =>
      durations.map((ms) => ({ bucket: latencyBucket(ms), count: 1, highestMs: null }));
    expect(latencyQuantile([], 0.5)).toBeNull();
    expect(latencyQuantile(of(4), 1)).toBe(4);
    expect(latencyQuantile(of(160, 190), 0.5)).toBe(162.5);
    expect(latencyQuantile(of(160, 190), 0.99)).toBe(187.5);
    const slow = [...Array.from({ length: 98 }, () => 4), 400, 400];
    expect(latencyQuantile(of(...slow), 0.5)).toBeGreaterThan(3);
    expect(latencyQuantile(of(...slow), 0.5)).toBeLessThanOrEqual(5);
    expect(latencyQuantile(of(...slow), 0.99)).toBeGreaterThan(300);
    expect(latencyQuantile(of(...slow), 0.99)).toBeLessThanOrEqual(500);
    expect(latencyQuantile(of(90_000), 0.5)).toBe(60_000);
  });

  it("no quantile is above the highest latency that was counted, which is exact where it is asked for", () => {
    const count = (ms: number, times: number) => ({ bucket: latencyBucket(ms), count: times, highestMs: ms });
    expect(latencyQuantile([count(3, 10), count(167, 1)], 0.99)).toBe(167);
    expect(latencyQuantile([count(160, 1), count(167, 3)], 0.99)).toBe(167);
    expect(latencyQuantile([count(167, 4)], 0.5)).toBe(158.5);
    expect(latencyQuantile([count(90_000, 1)], 0.5)).toBe(90_000);
    for (const share of [0.1, 0.5, 0.9, 0.95, 0.99, 1]) {
      const found = latencyQuantile([count(28.129, 40), count(152, 7), count(0.3, 9)], share);
      expect(found).toBeGreaterThan(0);
      expect(found).toBeLessThanOrEqual(152);
    }
    // A count of an earlier version in the same bucket may have been higher.
    expect(latencyQuantile([count(160, 1), { bucket: latencyBucket(160), count: 1, highestMs: null }], 1)).toBe(187.5);
  });

  it("quantiles are the same whether durations were counted together or apart", () => {
    const apart = [1, 1, 2, 5].map((count) => ({ bucket: 4, count, highestMs: null }));
    expect(latencyQuantile(apart, 0.5)).toBe(latencyQuantile([{ bucket: 4, count: 9, highestMs: null }], 0.5));
  });

  it("durations in buckets belong to the period in which they were counted", () => {
    expect(periodStart(new Date("2026-03-04T12:34:56.789Z"), 900)).toBe(Date.parse("2026-03-04T12:30:00Z") / 1_000);
  });
});
