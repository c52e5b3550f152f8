import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparedWith, DAY, evaluateSignatures, HOUR, WEEK } from "../../src/alerts/policy.ts";
import { FAULTS, type SignatureCounts, signatureOf } from "../../src/domain/index.ts";
import { createChance, poisson } from "./chance.ts";

/** Midnight of a Monday, in quarter-hours. */
const MONDAY = WEEK * 2_900 + 4 * DAY;
const at = (week: number, day: number, hour: number) => MONDAY + week * WEEK + day * DAY + hour * HOUR;

type Source = (quarter: number) => Partial<SignatureCounts>;

/** Open from 8:00 to 20:00, Monday to Friday; `atNight` is the share of callbacks at other times. */
function shop(perHour: number, atNight: number, chance: () => number): (quarter: number) => number {
  return (quarter) => {
    const hour = ((quarter - MONDAY) % DAY) / HOUR;
    const isOpen = (quarter - MONDAY) % WEEK < 5 * DAY && hour >= 8 && hour < 20;
    return poisson(((isOpen ? 1 : atNight) * perHour) / HOUR, chance);
  };
}

/** Evaluates each quarter-hour of a source; returns the quarter-hours in which the alert started and resolved. */
function changesOf(source: Source, from: number, to: number, first = MONDAY) {
  const changes: { started: number[]; resolved: number[] } = { started: [], resolved: [] };
  const quarters = new Map<number, SignatureCounts>();
  let state: { isOpen: boolean; changedIn?: number } = { isOpen: false };
  for (let last = first; last < to; last += 1) {
    quarters.set(last, { authentic: 0, wrong: 0, unsigned: 0, ...source(last) });
    if (last < from) continue;
    const transition = evaluateSignatures({ last, shift: comparedWith(last, first), quarters, ...state });
    if (transition === "unchanged") continue;
    state = { isOpen: transition === "starts", changedIn: last + 1 };
    changes[transition === "starts" ? "started" : "resolved"].push(last);
  }
  return changes;
}

/** A constant number of authentic callbacks, of which a share is refused between two quarter-hours. */
function failing(perQuarter: number, from: number, to: number, share = 1): Source {
  return (quarter) => {
    const wrong = quarter >= from && quarter < to ? Math.round(perQuarter * share) : 0;
    return { authentic: perQuarter - wrong, wrong };
  };
}

describe("the alert on failing signatures", () => {
  it("no number of forged callbacks starts the alert while the platform's callbacks arrive as usual", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.constantFrom(0, 0.02, 0.3, 1),
        fc.integer({ min: 10, max: 5_000 }),
        fc.integer(),
        (perHour, atNight, forged, seed) => {
          const authentic = shop(perHour, atNight, createChance(seed));
          const source: Source = (quarter) => ({ authentic: authentic(quarter), wrong: forged });
          expect(changesOf(source, at(1, 1, 0), at(4, 0, 0)).started).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it("the alert starts within an hour after the last valid signature of a busy source, and resolves within half an hour", () => {
    const [from, to] = [at(2, 1, 10), at(2, 1, 15)];
    const { started, resolved } = changesOf(failing(10, from, to), at(2, 0, 0), at(2, 3, 0));
    expect(started).toEqual([from + HOUR - 1]);
    expect(resolved).toEqual([to + 1]);
  });

  it("the alert starts within a day where two callbacks arrive in an hour", () => {
    const from = at(2, 1, 10);
    const source: Source = (quarter) => (quarter % 2 !== 0 ? {} : quarter < from ? { authentic: 1 } : { wrong: 1 });
    const [started] = changesOf(source, at(2, 0, 0), at(3, 0, 0)).started;
    expect(started).toBeGreaterThan(from + DAY / 2);
    expect(started).toBeLessThan(from + DAY);
  });

  it("the alert compares with a day earlier in the first eight days, and starts nothing on the first day", () => {
    const from = at(0, 3, 10);
    expect(changesOf(failing(10, from, at(1, 0, 0)), at(0, 0, 0), at(0, 4, 0)).started).toEqual([from + HOUR - 1]);
    const onFirstDay = failing(10, at(0, 0, 10), at(1, 0, 0));
    expect(changesOf(onFirstDay, at(0, 0, 0), at(0, 1, 0)).started).toEqual([]);
  });

  it("the alert does not start for a source that never had an authentic callback", () => {
    expect(changesOf(() => ({ wrong: 50, unsigned: 50 }), at(0, 0, 0), at(2, 0, 0)).started).toEqual([]);
  });

  it.each([
    ["29 authentic callbacks a week ago", { usual: 29 }],
    ["9 wrong signatures", { wrong: 9 }],
    ["as many authentic callbacks as wrong signatures", { usual: 100, authentic: 10, wrong: 10 }],
    ["a quarter of the authentic callbacks of a week ago", { usual: 40, authentic: 10, wrong: 11 }],
    ["unsigned requests beside one authentic callback", { authentic: 1, wrong: 0, unsigned: 500 }],
  ])("the alert does not start with %s", (_cause, over) => {
    expect(startsWith(over)).toBe(false);
  });

  it.each([
    ["30 authentic callbacks a week ago, and 7 of them beside 10 wrong signatures now", { authentic: 7 }],
    ["unsigned requests alone, as behind a proxy that drops the header", { wrong: 0, unsigned: 10 }],
  ])("the alert starts with %s", (_cause, over) => {
    expect(startsWith(over)).toBe(true);
  });

  it("the alert starts at most twice a day where three quarters of the callbacks fail", () => {
    const [from, to] = [at(2, 1, 0), at(2, 4, 0)];
    const { started } = changesOf(failing(10, from, to, 0.75), from, to);
    expect(started.length).toBeLessThanOrEqual(6);
  });

  it("the alert resolves during a flood of forged callbacks when half of the usual authentic ones arrive", () => {
    const [from, to] = [at(2, 1, 10), at(2, 1, 12)];
    const source: Source = (quarter) =>
      quarter >= from && quarter < to ? { wrong: 500 } : { authentic: quarter < to ? 10 : 5, wrong: 490 };
    const { started, resolved } = changesOf(source, at(2, 1, 0), at(2, 2, 0));
    expect([started.length, resolved.length]).toEqual([1, 1]);
    expect(resolved[0]! - to).toBeLessThan(2 * HOUR);
  });

  it("the alert ignores a change that lies ahead because the clock was set back", () => {
    const last = at(2, 1, 12);
    const known = { last, shift: WEEK, quarters: new Map([[last, { authentic: 9, wrong: 0, unsigned: 0 }]]) };
    expect(evaluateSignatures({ ...known, isOpen: true, changedIn: last + WEEK })).toBe("resolves");
    expect(evaluateSignatures({ ...known, isOpen: true, changedIn: last })).toBe("unchanged");
  });
});

/** One hour of a source: `usual` authentic callbacks a week ago, the others now. */
function startsWith(over: Partial<SignatureCounts & { usual: number }>): boolean {
  const { usual, ...now } = { usual: 30, authentic: 0, wrong: 10, unsigned: 0, ...over };
  const last = at(2, 1, 10);
  const before = { authentic: usual, wrong: 0, unsigned: 0 };
  const quarters = new Map([
    [last - WEEK, before],
    [last, now],
  ]);
  return evaluateSignatures({ last, shift: WEEK, quarters, isOpen: false }) === "starts";
}

describe("an outcome", () => {
  it("an outcome states for each callback whether its signature was valid, wrong or missing", () => {
    const codesOf = (signature: string | undefined) =>
      Object.keys(FAULTS).filter((code) => signatureOf(code) === signature);
    for (const outcome of ["success", "already_processed", "accepted", "ignored"])
      expect(signatureOf(outcome)).toBe("authentic");
    expect(codesOf("unsigned")).toEqual(["signature_missing", "timestamp_missing", "token_missing"]);
    expect(codesOf("wrong")).toEqual([
      "signature_repeated",
      "signature_malformed",
      "signature_mismatch",
      "timestamp_stale",
      "token_repeated",
      "token_mismatch",
      "jwt_malformed",
      "jwt_signature",
      "jwt_claims",
      "jwt_body_mismatch",
      "state_unknown",
      "state_of_another_browser",
      "issuer_mismatch",
    ]);
    // These can also end a request before its signature is verified.
    expect(codesOf(undefined)).toEqual([
      "address_not_allowed",
      "https_required",
      "too_many_requests",
      "not_found",
      "method_not_allowed",
      "body_too_large",
      "content_encoding_unsupported",
      "request_timeout",
      "malformed_request",
      "headers_too_large",
      "endpoint_check",
      "handshake_invalid",
      "redirect_invalid",
      "process_ended",
      "internal",
      "handshake_failed",
      "keys_unavailable",
      "platform_unavailable",
      "prefetch_refused",
      "store_unavailable",
      "overloaded",
    ]);
  });
});
