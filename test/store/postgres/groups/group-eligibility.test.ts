import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GroupEligibility } from "../../../../src/store/postgres/groups/group-eligibility.ts";

const TYPE = "v1 paid";
const EXCLUDED_MS = 1_000;

describe("an event type whose handlers leave groups on postgres", () => {
  let eligibility: GroupEligibility;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
    eligibility = new GroupEligibility();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const late = (times: number) => {
    for (let time = 0; time < times; time += 1) eligibility.markLate(TYPE);
  };
  const inTime = (times: number) => {
    for (let time = 0; time < times; time += 1) eligibility.markInTime(TYPE);
  };

  it("a type runs in its own transaction after its third late run, for a second, and no other type does", () => {
    late(2);
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(false);
    late(1);
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(true);
    expect(eligibility.needsOwnTransaction("v1 refunded")).toBe(false);
    vi.advanceTimersByTime(EXCLUDED_MS - 1);
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(false);
  });

  it("a type runs in its own transaction again after one more late run, once it was tried in a group", () => {
    late(3);
    vi.advanceTimersByTime(EXCLUDED_MS);
    late(1);
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(true);
  });

  it("a type stays in groups while six runs in time come with each late one, however long that goes on", () => {
    inTime(1_000);
    for (let round = 0; round < 20; round += 1) {
      late(1);
      inTime(6);
    }
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(false);
    // Runs in time long ago excuse nothing.
    late(3);
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(true);
  });

  it("a type runs in its own transaction at once where it does what no handler may do in a group", () => {
    eligibility.markUnsupported(TYPE);
    expect(eligibility.needsOwnTransaction(TYPE)).toBe(true);
  });
});
