import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateFailures, type NotifiedFailures } from "../../src/alerts/policy.ts";

const NOON = new Date("2026-03-04T12:00:00.000Z");
const minutes = (count: number) => new Date(NOON.getTime() + count * 60_000);
const open = (told: number): NotifiedFailures => ({ isOpen: true, notifiedCount: told, notifiedAt: NOON });
const found = (count: number, isComplete = true) => ({ count, isComplete });

describe("exhausted failures", () => {
  it("are told of when the first one is there, and when none is left", () => {
    const none = { isOpen: false, notifiedCount: 0, notifiedAt: NOON };
    expect(evaluateFailures(none, found(0), minutes(1))).toBe("unchanged");
    expect(evaluateFailures(none, found(1), minutes(1))).toBe("begins");
    expect(evaluateFailures(open(1), found(1), minutes(600))).toBe("unchanged");
    expect(evaluateFailures(open(1), found(0), minutes(1))).toBe("over");
  });

  it("that become more are told of again, an hour after the last message at the earliest", () => {
    expect(evaluateFailures(open(1), found(9), minutes(59))).toBe("unchanged");
    expect(evaluateFailures(open(1), found(9), minutes(60))).toBe("grows");
  });

  it("that become fewer say nothing, and the next one is news again", () => {
    expect(evaluateFailures(open(9), found(2), minutes(1))).toBe("shrinks");
    expect(evaluateFailures(open(2), found(3), minutes(60))).toBe("grows");
  });

  it("that are too many to be counted are not taken for gone", () => {
    expect(evaluateFailures(open(9), found(0, false), minutes(1))).toBe("unchanged");
    expect(evaluateFailures(open(9), found(2, false), minutes(1))).toBe("unchanged");
  });

  it("bring no more than one message an hour while they are there, whatever happens to their number", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 600 }), (counts) => {
        let told: NotifiedFailures = { isOpen: false, notifiedCount: 0, notifiedAt: NOON };
        const sent: number[] = [];
        for (const [minute, count] of counts.entries()) {
          const now = minutes(minute);
          const verdict = evaluateFailures(told, found(count), now);
          if (verdict === "begins" || verdict === "grows") sent.push(minute);
          if (verdict === "unchanged") continue;
          told = {
            isOpen: true,
            notifiedCount: count,
            notifiedAt: verdict === "shrinks" ? told.notifiedAt : now,
          };
        }
        expect(sent[0]).toBe(0);
        expect(sent.slice(1).every((minute, index) => minute - sent[index]! >= 60)).toBe(true);
      }),
    );
  });
});
