import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateAccepted, evaluateFailures, type NotifiedFailures } from "../../src/alerts/policy.ts";

const NOON = new Date("2026-03-04T12:00:00.000Z");
const minutes = (count: number) => new Date(NOON.getTime() + count * 60_000);
const open = (notified: number): NotifiedFailures => ({
  isOpen: true,
  notifiedCount: notified,
  notifiedAt: NOON,
});
const found = (count: number, isComplete = true) => ({ count, isComplete });

describe("the alert on exhausted failures", () => {
  it("the alert starts with the first exhausted failure and resolves when none is left", () => {
    const none = { isOpen: false, notifiedCount: 0, notifiedAt: NOON };
    expect(evaluateFailures(none, found(0), minutes(1))).toBe("unchanged");
    expect(evaluateFailures(none, found(1), minutes(1))).toBe("starts");
    expect(evaluateFailures(open(1), found(1), minutes(600))).toBe("unchanged");
    expect(evaluateFailures(open(1), found(0), minutes(1))).toBe("resolves");
  });

  it("the alert grows when more failures are exhausted, an hour after the last notification at the earliest", () => {
    expect(evaluateFailures(open(1), found(9), minutes(59))).toBe("unchanged");
    expect(evaluateFailures(open(1), found(9), minutes(60))).toBe("grows");
  });

  it("the alert shrinks without a notification, and grows again with the next failure", () => {
    expect(evaluateFailures(open(9), found(2), minutes(1))).toBe("shrinks");
    expect(evaluateFailures(open(2), found(3), minutes(60))).toBe("grows");
  });

  it("the alert does not resolve while there are too many failures to count", () => {
    expect(evaluateFailures(open(9), found(0, false), minutes(1))).toBe("unchanged");
    expect(evaluateFailures(open(9), found(2, false), minutes(1))).toBe("unchanged");
  });

  it("the alert sends at most one notification an hour, however the number of failures changes", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 600 }), (counts) => {
        let notified: NotifiedFailures = { isOpen: false, notifiedCount: 0, notifiedAt: NOON };
        const sent: number[] = [];
        for (const [minute, count] of counts.entries()) {
          const now = minutes(minute);
          const transition = evaluateFailures(notified, found(count), now);
          if (transition === "starts" || transition === "grows") sent.push(minute);
          if (transition === "unchanged") continue;
          notified = {
            isOpen: true,
            notifiedCount: count,
            notifiedAt: transition === "shrinks" ? notified.notifiedAt : now,
          };
        }
        expect(sent[0]).toBe(0);
        expect(sent.slice(1).every((minute, index) => minute - sent[index]! >= 60)).toBe(true);
      }),
    );
  });
});

describe("the alert on accepted events", () => {
  const LIMIT = 300_000;
  const evaluate = (ms: number | undefined, isOpen: boolean, isComplete = true) =>
    evaluateAccepted(isOpen, { ageMs: ms, isComplete }, LIMIT);

  it("the alert starts when the oldest event has waited for longer than the limit", () => {
    expect(evaluate(undefined, false)).toBe("unchanged");
    expect(evaluate(LIMIT, false)).toBe("unchanged");
    expect(evaluate(LIMIT + 1, false)).toBe("starts");
    expect(evaluate(LIMIT * 100, true)).toBe("unchanged");
  });

  it("the alert resolves when no event is older than half the limit, so that it does not flap", () => {
    expect(evaluate(LIMIT / 2 + 1, true)).toBe("unchanged");
    expect(evaluate(LIMIT / 2, true)).toBe("resolves");
    expect(evaluate(undefined, true)).toBe("resolves");
  });

  it("the alert does not resolve while older events of other sources hide those of its source", () => {
    expect(evaluate(undefined, true, false)).toBe("unchanged");
  });
});
