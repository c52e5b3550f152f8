import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextAttemptAt } from "../../src/domain/index.ts";

const policies = fc.record({
  max: fc.integer({ min: 0, max: 100 }),
  delaySeconds: fc.double({ min: 0.05, max: 86_400, noNaN: true }),
});
const times = fc.date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });

describe("the retry schedule", () => {
  it("the schedule of SPEC 8 has three retries sixty seconds apart", () => {
    const policy = { max: 3, delaySeconds: 60 };
    const now = new Date("2026-01-01T00:00:00Z");
    expect(nextAttemptAt(policy, 0, now)).toEqual(new Date("2026-01-01T00:01:00Z"));
    expect(nextAttemptAt(policy, 2, now)).toEqual(new Date("2026-01-01T00:01:00Z"));
    expect(nextAttemptAt(policy, 3, now)).toBeUndefined();
  });

  it("never exceeds the maximum and never lies in the past", () => {
    fc.assert(
      fc.property(policies, times, (policy, start) => {
        let now = start;
        let retries = 0;
        for (
          let next = nextAttemptAt(policy, retries, now);
          next !== undefined;
          next = nextAttemptAt(policy, retries, now)
        ) {
          expect(next.getTime() - now.getTime()).toBe(
            Math.trunc(policy.delaySeconds * 1000 + now.getTime()) - now.getTime(),
          );
          retries += 1;
          now = next;
        }
        expect(retries).toBe(policy.max);
      }),
    );
  });
});
