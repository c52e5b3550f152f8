import { expect, it } from "vitest";
import { Rate } from "../../dashboard/src/pages/overview/rate.ts";

it("the rate divides new callbacks by the time between two tallies, without those before the stream", () => {
  const rate = new Rate();
  // At 20 a second: opened 65 ms before the tally that all get, which is of two seconds.
  expect(rate.next(0, 10_000)).toBe(undefined);
  expect(rate.next(40, 10_065)).toBe(undefined);
  expect(rate.next(40, 12_065)).toBeCloseTo(20);
});

it("two tallies that are read at once have no rate", () => {
  const rate = new Rate();
  for (const at of [10_000, 12_000, 14_000]) rate.next(0, at);
  expect(rate.next(0, 14_000)).toBe(undefined);
});
