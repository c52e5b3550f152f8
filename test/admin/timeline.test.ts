import { describe, expect, it } from "vitest";
import {
  type EventHistory,
  TIMELINE_START,
  type TimelinePosition,
  timelineAfter,
} from "../../src/admin/event-routes.ts";
import type { StoredAttempt, StoredCallback, StoredFailure } from "../../src/store/index.ts";
import { logRow } from "../support/log-row.ts";

const at = (seconds: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + seconds * 1000).toISOString();

const callback = (id: number, seconds: number, over: Partial<StoredCallback> = {}): StoredCallback => ({
  ...logRow({ receivedAt: at(seconds), outcome: "already_processed", responseStatus: 200 }),
  id,
  ...over,
});

const attempt = (id: number, seconds: number): StoredAttempt => ({
  id,
  source: "platform",
  eventId: "e1",
  startedAt: at(seconds),
  trigger: "retry",
  outcome: "success",
  error: null,
  durationMs: 1,
});

const RECORD = {
  id: 1,
  source: "platform",
  eventId: "e1",
  eventType: "t",
  version: "v1",
  bodySha256: "ab",
  status: "completed",
  result: {},
  createdAt: at(34),
  processedAt: at(35),
} as const;

/** As the store lends them: what comes after a place, one more than a page. */
function stretch(known: EventHistory, place: TimelinePosition, limit: number): EventHistory {
  const after = <Row extends { id: number }>(rows: readonly Row[], id: number) =>
    rows.filter((row) => row.id > id).slice(0, limit + 1);
  const { callbacks, attempts } = known;
  return {
    ...known,
    callbacks: after(callbacks, place.callbackId),
    attempts: after(attempts, place.attemptId),
  };
}

/** The times of all pages, one after the other, in seconds. */
function pages(known: EventHistory, limit: number): number[][] {
  const shown: number[][] = [];
  for (let place: TimelinePosition | null = TIMELINE_START; place !== null; ) {
    const page: ReturnType<typeof timelineAfter> = timelineAfter(place, stretch(known, place, limit), limit);
    shown.push(page.entries.map((entry) => (Date.parse(entry.at) - Date.parse(at(0))) / 1000));
    place = page.next;
  }
  return shown;
}

const NOTHING: EventHistory = {
  callbacks: [],
  attempts: [],
  record: undefined,
  failure: undefined,
  notifications: [],
  runs: [],
  replays: [],
};

describe("the time line of an event", () => {
  it("the time line merges callbacks and attempts, and shows what both record once", () => {
    const known = {
      ...NOTHING,
      callbacks: [callback(1, 10), callback(2, 20), callback(3, 50)],
      attempts: [attempt(1, 30), attempt(2, 40)],
      record: RECORD,
    };
    expect(pages(known, 2)).toEqual([[10, 20], [30, 35, 40], [50]]);
    expect(pages(known, 5)).toEqual([[10, 20, 30, 35, 40, 50]]);
    expect(pages(known, 1).flat()).toEqual([10, 20, 30, 35, 40, 50]);
  });

  it("the time line shows an exhausted failure after its last retry, and a waiting one at its start", () => {
    const failure = (state: "waiting" | "exhausted") => ({
      state,
      code: "handler_failed",
      firstFailedAt: at(10.5),
      lastFailedAt: at(31),
    });
    const known = {
      ...NOTHING,
      callbacks: [callback(1, 10, { outcome: "handler_failed", responseStatus: 500 })],
      attempts: [attempt(1, 20), attempt(2, 30)],
    };
    const kinds = (state: "waiting" | "exhausted") =>
      timelineAfter(TIMELINE_START, { ...known, failure: failure(state) as StoredFailure }, 10).entries.map(
        ({ kind }) => kind,
      );
    expect(kinds("exhausted")).toEqual(["attempt", "attempt", "attempt", "failure"]);
    expect(kinds("waiting")).toEqual(["attempt", "failure", "attempt", "attempt"]);
  });

  it("the time line shows each row once also where a clock was set back", () => {
    const callbacks = [callback(1, 50), callback(2, 10), callback(3, 60)];
    const known = { ...NOTHING, callbacks, attempts: [attempt(1, 20)], record: RECORD };
    for (const limit of [1, 2, 3, 4]) {
      const shown = pages(known, limit).flat();
      expect([limit, shown.toSorted((a, b) => a - b)]).toEqual([limit, [10, 20, 35, 50, 60]]);
    }
  });

  it.each([
    ["success", 200, "attempt"],
    ["rejected", 400, "attempt"],
    ["handler_failed", 500, "attempt"],
    ["commit_unknown", 500, "attempt"],
    ["already_processed", 200, "delivery"],
    ["event_invalid", 400, "delivery"],
    ["signature_mismatch", 401, "delivery"],
    ["event_in_progress", 503, "delivery"],
    ["overloaded", 503, "delivery"],
  ] as const)("the time line reads a callback that ended as %s, %i, for an %s", (outcome, responseStatus, kind) => {
    const known = { ...NOTHING, callbacks: [callback(7, 1, { outcome, responseStatus })] };
    const { entries, next } = timelineAfter(TIMELINE_START, known, 10);
    expect(entries).toMatchObject([{ kind, callback_id: 7, outcome, response_status: responseStatus }]);
    expect(next).toBeNull();
  });
});
