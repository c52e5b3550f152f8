import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Backoff,
  fixedRetries,
  givesUpAt,
  growingRetries,
  nextAttemptAt,
  type RetryPolicy,
  retriesFor,
  retryDelayMs,
  retryFault,
  sourceRetry,
} from "../../src/domain/index.ts";

const HOUR_MS = 3_600_000;
const T0 = new Date("2026-01-01T00:00:00Z");
const times = fc.date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
const chances = fc.double({ min: 0, max: 1, noNaN: true });

/** Every delay of a schedule in seconds, until its retries are exhausted. */
function delays(policy: RetryPolicy, chance = 0): number[] {
  return Array.from({ length: policy.max }, (_, done) => retryDelayMs(policy, done, chance) / 1_000);
}

describe("the retry schedule", () => {
  it("the schedule of SPEC 8 has three retries sixty seconds apart", () => {
    const policy = fixedRetries(3, 60);
    for (const chance of [0, 0.5, 1]) {
      expect(nextAttemptAt(policy, 0, T0, chance)).toEqual(new Date("2026-01-01T00:01:00Z"));
      expect(nextAttemptAt(policy, 2, T0, chance)).toEqual(new Date("2026-01-01T00:01:00Z"));
      expect(nextAttemptAt(policy, 3, T0, chance)).toBeUndefined();
    }
  });

  it("the schedule of a source doubles its delays from 30 s to an hour, for 72 hours at the least", () => {
    const policy = retriesFor(sourceRetry());
    expect(delays(policy).slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    const sum = delays(policy).reduce((all, one) => all + one, 0);
    expect(sum).toBeGreaterThanOrEqual(72 * 3_600);
    expect(sum).toBeLessThan(73 * 3_600);
  });

  it("the schedule of a source is as long as its platform's where that tries longer", () => {
    expect(sourceRetry(720).for).toBe("720h");
    expect(sourceRetry(0).for).toBe("72h");
    expect(sourceRetry(1.5).for).toBe("72h");
    expect(sourceRetry(720, { for: "1h", max: "5m" })).toEqual({
      for: "1h",
      first: "30s",
      factor: 2,
      max: "5m",
    });
  });

  it("a schedule never ends before its time, and its last retry comes when it says so", { tags: "full" }, () => {
    const options = fc.record({
      for: fc.integer({ min: 0, max: 400 }).map((hours) => `${hours}h` as const),
      first: fc.integer({ min: 1, max: 600 }).map((seconds) => `${seconds}s` as const),
      factor: fc.oneof(fc.constant(1), fc.double({ min: 1.1, max: 10, noNaN: true })),
      max: fc.integer({ min: 10, max: 1_440 }).map((minutes) => `${minutes}m` as const),
    });
    fc.assert(
      fc.property(options, times, chances, (given, start, chance) => {
        const policy = retriesFor(given);
        let now = start;
        let retries = 0;
        for (
          let next = nextAttemptAt(policy, retries, now, chance);
          next !== undefined && retries < 5_000;
          next = nextAttemptAt(policy, retries, now, chance)
        ) {
          const ahead = next.getTime() - now.getTime();
          expect(ahead).toBeGreaterThan(0);
          expect(ahead).toBeLessThanOrEqual(retryDelayMs(policy, policy.max, 1));
          retries += 1;
          now = next;
        }
        if (retries === 5_000) return;
        expect(retries).toBe(policy.max);
        expect(now.getTime() - start.getTime()).toBeGreaterThanOrEqual(
          Number.parseInt(given.for, 10) * HOUR_MS - retries,
        );
        const first = nextAttemptAt(policy, 0, start, 0);
        const rest = delays(policy).reduce((all, one) => all + one * 1_000, 0);
        if (first !== undefined) expect(givesUpAt(policy, 0, first).getTime() - start.getTime()).toBeCloseTo(rest, -4);
      }),
    );
  });

  it("chance prolongs a delay by a fifth at most, and makes two events that failed together come apart", () => {
    const policy = retriesFor(sourceRetry());
    expect(delays(policy, 1)[0]).toBe(36);
    expect(delays(policy, 0.5)[20]).toBe(3_960);
  });

  it.each([
    [{ for: 72 }, '`for`: got 72, expected a time from "0s" to "365d"'],
    [{ for: "9999d" }, '`for`: got "9999d", expected a time from "0s" to "365d"'],
    [{ first: "10ms" }, '`first`: got "10ms", expected a time from "50ms" to "1d"'],
    [{ max: "2d" }, '`max`: got "2d", expected a time from "50ms" to "1d"'],
    [{ factor: 0.5 }, "`factor`: got 0.5, expected 1, or a number from 1.1 to 10"],
    [{ factor: 1.0001 }, "`factor`: got 1.0001, expected 1, or a number from 1.1 to 10"],
    [{ first: "2h", max: "1h" }, '`first`: got "2h", expected no more than `max` ("1h")'],
    [{ tries: 3 }, "`tries`: no such option; there are for, first, factor and max"],
    ["72h", 'got "72h", expected such as { for: "72h", first: "30s", factor: 2, max: "1h" }'],
  ])("a schedule %j is refused by name", (given, fault) => {
    expect(retryFault(given)).toBe(fault);
  });

  it("a schedule that names only some of its times is none to refuse", () => {
    for (const given of [{}, { for: "0s" }, { for: "1.5h", first: "30s", factor: 1, max: "1d" }])
      expect(retryFault(given)).toBeUndefined();
  });
});

describe("the schedule of deliveries", () => {
  const backoff: Backoff = { firstMs: 5_000, factor: 4, maxMs: 12 * HOUR_MS };

  it("a delivery waits four times longer after each failure, twelve hours at the most, and then no more", () => {
    const policy = growingRetries(9, backoff);
    expect(delays(policy)).toEqual([5, 20, 80, 320, 1_280, 5_120, 20_480, 43_200, 43_200]);
    expect(nextAttemptAt(policy, 9, T0, 0)).toBeUndefined();
  });
});
