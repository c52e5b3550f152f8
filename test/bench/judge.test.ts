import { describe, expect, it } from "vitest";
import type { Load } from "../../bench/load/wrk.ts";
import { together } from "../../bench/load/wrk.ts";
import { answered, faultsOf, paceFaults } from "../../bench/rounds/judge.ts";
import { growthOf } from "../../bench/rounds/watch-memory.ts";

const CLEAN: Load = {
  requests: 1_000,
  seconds: 2,
  p50: 1,
  p99: 2,
  p999: 3,
  status: 0,
  connect: 0,
  read: 0,
  write: 0,
  timeout: 0,
  wrapped: 0,
  accepted: 0,
  unavailable: 0,
  other: 0,
};
const FRESH = { traffic: "fresh", mayRefuse: false } as const;
const BAD = { traffic: "bad-signatures", mayRefuse: false } as const;
const OVERLOAD = { traffic: "fresh", mayRefuse: true } as const;

describe("a round of the benchmark", () => {
  it("counts when every answer is what the case expects", () => {
    expect(faultsOf(CLEAN, FRESH, true)).toEqual([]);
    expect(answered(CLEAN, FRESH)).toBe(1_000);
    const refused = { ...CLEAN, status: 1_000 };
    expect(faultsOf(refused, BAD, false)).toEqual([]);
    expect(answered(refused, BAD)).toBe(1_000);
  });

  it.each<[string, Partial<Load>]>([
    ["no answer at all", { requests: 0 }],
    ["3 socket errors", { connect: 1, read: 1, write: 1 }],
    ["2 timeouts", { timeout: 2 }],
    ["5 unexpected answers", { status: 5 }],
    ["the events ran out and were sent again", { wrapped: 1 }],
  ])("does not count: %s", (fault, load) => {
    expect(faultsOf({ ...CLEAN, ...load }, FRESH, true)).toEqual([fault]);
  });

  it("does not count when a bad signature is let in", () => {
    expect(faultsOf({ ...CLEAN, status: 999 }, BAD, false)).toEqual(["1 unexpected answers"]);
  });

  it("may send an event again where none is stored", () => {
    expect(faultsOf({ ...CLEAN, wrapped: 7 }, FRESH, false)).toEqual([]);
  });

  it("counts a 503 apart from what was accepted, under overload alone", () => {
    const load = { ...CLEAN, status: 400, accepted: 600, unavailable: 400 };
    expect(faultsOf(load, OVERLOAD, true)).toEqual([]);
    expect(answered(load, OVERLOAD)).toBe(600);
    expect(faultsOf({ ...load, other: 1 }, OVERLOAD, true)).toEqual(["1 unexpected answers"]);
    expect(faultsOf(load, FRESH, true)).toEqual(["400 unexpected answers"]);
  });

  it("does not count when the server did not keep the pace it was measured at", () => {
    expect(paceFaults(CLEAN, undefined)).toEqual([]);
    expect(paceFaults(CLEAN, 510)).toEqual([]);
    expect(paceFaults(CLEAN, 600)).toEqual(["it took 500 a second of 600"]);
  });

  it("adds up loads side by side, and keeps the worst latency", () => {
    expect(together([CLEAN, { ...CLEAN, p99: 9, timeout: 1 }])).toMatchObject({
      requests: 2_000,
      seconds: 2,
      p99: 9,
      timeout: 1,
    });
  });

  it("calls memory flat by its last third, whatever the first did", () => {
    expect(growthOf([10, 50, 90, 100, 100, 100, 100, 100, 100])).toBe(1);
    expect(growthOf([1, 1, 1, 100, 100, 100, 150, 150, 150])).toBe(1.5);
    expect(growthOf([1, 2])).toBeNaN();
  });
});
