import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GroupEligibility } from "../../src/store/postgres/group-eligibility.ts";

const TYPE = "v1 paid";
const LISTED_MS = 1_000;

describe("an event type whose handlers leave groups on postgres", () => {
  let temper: GroupEligibility;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
    temper = new GroupEligibility();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const late = (times: number) => {
    for (let time = 0; time < times; time += 1) temper.markLate(TYPE);
  };
  const inTime = (times: number) => {
    for (let time = 0; time < times; time += 1) temper.markInTime(TYPE);
  };

  it("runs alone after its third late run, for a second, and no other type does", () => {
    late(2);
    expect(temper.mustRunAlone(TYPE)).toBe(false);
    late(1);
    expect([temper.mustRunAlone(TYPE), temper.mustRunAlone("v1 refunded")]).toEqual([true, false]);
    vi.advanceTimersByTime(LISTED_MS - 1);
    expect(temper.mustRunAlone(TYPE)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(temper.mustRunAlone(TYPE)).toBe(false);
  });

  it("runs alone again after one more late run, once it was tried in a group", () => {
    late(3);
    vi.advanceTimersByTime(LISTED_MS);
    late(1);
    expect(temper.mustRunAlone(TYPE)).toBe(true);
  });

  it("stays in groups while six runs in time come with each late one, however long that goes on", () => {
    inTime(1_000);
    for (let round = 0; round < 20; round += 1) {
      late(1);
      inTime(6);
    }
    expect(temper.mustRunAlone(TYPE)).toBe(false);
    // Runs in time long ago excuse nothing.
    late(3);
    expect(temper.mustRunAlone(TYPE)).toBe(true);
  });

  it("runs alone at once where it does what no handler may do in a group", () => {
    temper.markUnsupported(TYPE);
    expect(temper.mustRunAlone(TYPE)).toBe(true);
  });
});
