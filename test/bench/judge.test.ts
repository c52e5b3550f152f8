import { describe, expect, it } from "vitest";
import { type Load, together } from "../../bench/load/wrk.ts";
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
  it("a round counts when every response is what the case expects", () => {
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
  ])("a round does not count: %s", (fault, load) => {
    expect(faultsOf({ ...CLEAN, ...load }, FRESH, true)).toEqual([fault]);
  });

  it("a round does not count when a bad signature is accepted", () => {
    expect(faultsOf({ ...CLEAN, status: 999 }, BAD, false)).toEqual(["1 unexpected answers"]);
  });

  it("a round may send an event again where none is stored", () => {
    expect(faultsOf({ ...CLEAN, wrapped: 7 }, FRESH, false)).toEqual([]);
  });

  it("a 503 is counted apart from accepted callbacks, under overload alone", () => {
    const load = { ...CLEAN, status: 400, accepted: 600, unavailable: 400 };
    expect(faultsOf(load, OVERLOAD, true)).toEqual([]);
    expect(answered(load, OVERLOAD)).toBe(600);
    expect(faultsOf({ ...load, other: 1 }, OVERLOAD, true)).toEqual(["1 unexpected answers"]);
    expect(faultsOf(load, FRESH, true)).toEqual(["400 unexpected answers"]);
  });

  it("a round does not count when the server did not keep its pace", () => {
    expect(paceFaults(CLEAN, undefined)).toEqual([]);
    expect(paceFaults(CLEAN, 510)).toEqual([]);
    expect(paceFaults(CLEAN, 600)).toEqual(["it took 500 a second of 600"]);
  });

  it("loads side by side add up, and the worst latency stands for all", () => {
    expect(together([CLEAN, { ...CLEAN, p99: 9, timeout: 1 }])).toMatchObject({
      requests: 2_000,
      seconds: 2,
      p99: 9,
      timeout: 1,
    });
  });

  it("memory is flat by its last third, whatever the first did", () => {
    expect(growthOf([10, 50, 90, 100, 100, 100, 100, 100, 100])).toBe(1);
    expect(growthOf([1, 1, 1, 100, 100, 100, 150, 150, 150])).toBe(1.5);
    expect(growthOf([1, 2])).toBeNaN();
  });
});
