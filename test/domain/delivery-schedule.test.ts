import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextDeliveryAt } from "../../src/domain/index.ts";

const NOW = new Date("2026-01-01T00:00:00.000Z");
const policy = { attempts: 10, firstDelaySeconds: 5 };
const seconds = (attemptsDone: number, chance = 0.5, askedFor = 0) => {
  const next = nextDeliveryAt(policy, attemptsDone, NOW, chance, askedFor);
  return next === undefined ? undefined : (next.getTime() - NOW.getTime()) / 1000;
};

describe("the schedule of deliveries", () => {
  it("waits four times longer after each failure, twelve hours at the most, and then no more", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((done) => seconds(done))).toEqual([
      5,
      20,
      80,
      320,
      1_280,
      5_120,
      20_480,
      43_200,
      43_200,
      undefined,
    ]);
  });

  it("stays within a fifth of that, whatever the chance", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (done, chance) => {
          const middle = seconds(done) ?? 0;
          const drawn = seconds(done, chance) ?? 0;
          expect(drawn).toBeGreaterThanOrEqual(middle * 0.8 - 0.001);
          expect(drawn).toBeLessThanOrEqual(middle * 1.2 + 0.001);
        },
      ),
    );
  });

  it("waits as long as the receiver asked for, but not for days", () => {
    expect(seconds(1, 0.5, 120)).toBe(120);
    expect(seconds(4, 0.5, 120)).toBe(320);
    expect(seconds(1, 0.5, 10_000_000)).toBe(43_200);
  });
});
