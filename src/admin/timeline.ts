import { z } from "zod";
import type {
  ListedNotification,
  StoredAttempt,
  StoredCallback,
  StoredFailure,
  StoredRecord,
} from "../store/index.ts";
import { time } from "./page-schemas.ts";

/** What is known of one event. Callbacks and attempts come oldest first, and one more than `limit` where there are more. */
export interface EventHistory {
  readonly callbacks: readonly StoredCallback[];
  readonly attempts: readonly StoredAttempt[];
  readonly record: StoredRecord | undefined;
  readonly failure: StoredFailure | undefined;
  readonly notifications: readonly ListedNotification[];
}

/** How far a time line was shown: the last callback and attempt, and the time of the last entry, in milliseconds. */
export interface TimelinePosition {
  readonly callbackId: number;
  readonly attemptId: number;
  readonly at: number;
}

export const TIMELINE_START: TimelinePosition = { callbackId: 0, attemptId: 0, at: Number.NEGATIVE_INFINITY };

/** The stretch of a time line after a place, and where it goes on; null at its end. */
export function timelineAfter(
  place: TimelinePosition,
  known: EventHistory,
  limit: number,
): { readonly entries: TimelineEntry[]; readonly next: TimelinePosition | null } {
  const { runs, next } = mergedAttempts(place, known, limit);
  const until = next?.at ?? Number.POSITIVE_INFINITY;
  const others = singleEntries(known).filter(
    ({ at }) => Date.parse(at) > place.at && Date.parse(at) <= until,
  );
  const entries = [...runs, ...others].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return { entries, next };
}

/** Both lists are taken from their beginnings, whatever the times in them: so that a place says what was shown of each. */
function mergedAttempts(place: TimelinePosition, { callbacks, attempts }: EventHistory, limit: number) {
  const runs: TimelineEntry[] = [];
  let [callback, attempt] = [0, 0];
  let { callbackId, attemptId, at } = place;
  while (runs.length < limit) {
    const came = callbacks[callback];
    const ran = attempts[attempt];
    if (came === undefined && ran === undefined) return { runs, next: null };
    if (ran === undefined || (came !== undefined && came.receivedAt <= ran.startedAt)) {
      runs.push(entryOfCallback(came as StoredCallback));
      callbackId = (came as StoredCallback).id;
      callback += 1;
    } else {
      runs.push(entryOfAttempt(ran));
      attemptId = ran.id;
      attempt += 1;
    }
    at = Math.max(at, Date.parse(runs.at(-1)?.at ?? ""));
  }
  const isAtEnd = callback === callbacks.length && attempt === attempts.length;
  return { runs, next: isAtEnd ? null : { callbackId, attemptId, at } };
}

/** 5xx endings of callbacks that never came to their handler. */
const HANDLER_NOT_RUN: ReadonlySet<string> = new Set(["event_in_progress", "overloaded", "keys_unavailable"]);

/** Whether a callback ran a handler. The row does not tell it where the database was unavailable. */
function handlerRan({ outcome, responseStatus }: StoredCallback): boolean {
  if (outcome === "success" || outcome === "rejected") return true;
  return responseStatus >= 500 && !HANDLER_NOT_RUN.has(outcome);
}

function entryOfCallback(row: StoredCallback): TimelineEntry {
  const { receivedAt: at, id: callback_id, responseStatus: response_status, outcome, error } = row;
  const ended = { callback_id, response_status, outcome, error, duration_ms: row.processingMs };
  return handlerRan(row)
    ? { at, kind: "attempt", by: "callback", ...ended }
    : { at, kind: "delivery", ...ended };
}

function entryOfAttempt({ startedAt, trigger, outcome, error, durationMs }: StoredAttempt): TimelineEntry {
  const nowhere = { callback_id: null, response_status: null };
  return { at: startedAt, kind: "attempt", by: trigger, ...nowhere, outcome, error, duration_ms: durationMs };
}

function singleEntries({ record, failure, notifications }: EventHistory): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  if (failure !== undefined) {
    const { state, code, firstFailedAt, lastFailedAt } = failure;
    // It is kept for a person since the last attempt failed, and not since the first one did.
    entries.push({ at: state === "exhausted" ? lastFailedAt : firstFailedAt, kind: "failure", state, code });
  }
  for (const { id, topic, createdAt, deliveries } of notifications) {
    const what = { kind: "notification", notification_id: id, topic } as const;
    entries.push({ at: createdAt, ...what, state: "enqueued", channel: null });
    for (const { deliveredAt, channel } of deliveries)
      if (deliveredAt !== null) entries.push({ at: deliveredAt, ...what, state: "delivered", channel });
  }
  // Last, since what the handler asked for may bear the same millisecond.
  const processedAt = record?.processedAt ?? null;
  if (processedAt !== null) entries.push({ at: processedAt, kind: "record", status: "completed" });
  return entries;
}

const OUTCOME = "`success`, `already_processed` or a code of docs/errors.md.";
const attemptFields = {
  outcome: z.string().describe(OUTCOME),
  error: z.string().nullable().describe("With its stack, secrets masked."),
  duration_ms: z.number(),
};

const DELIVERY = z.strictObject({
  at: time(),
  kind: z.literal("delivery"),
  callback_id: z.int().describe("Of the callback log."),
  response_status: z.int(),
  ...attemptFields,
});

const ATTEMPT = z.strictObject({
  at: time(),
  kind: z.literal("attempt"),
  by: z.enum(["callback", "retry", "replay", "bulk"]).describe("`bulk`: a replay of many."),
  callback_id: z.int().nullable().describe("Of the callback log, where it was made by a callback."),
  response_status: z.int().nullable().describe("Likewise."),
  ...attemptFields,
});

const FAILED = z.strictObject({
  at: time(),
  kind: z.literal("failure"),
  state: z.enum(["waiting", "exhausted"]).describe("It was kept then; this is its state now."),
  code: z.string(),
});

const RECORDED = z.strictObject({ at: time(), kind: z.literal("record"), status: z.literal("completed") });

const NOTIFIED = z.strictObject({
  at: time(),
  kind: z.literal("notification"),
  notification_id: z.int(),
  topic: z.string(),
  state: z.enum(["enqueued", "delivered"]),
  channel: z.string().nullable().describe("The one that it was delivered through."),
});

export const TIMELINE_ENTRY = z.discriminatedUnion("kind", [DELIVERY, ATTEMPT, FAILED, RECORDED, NOTIFIED]);

type TimelineEntry = z.infer<typeof TIMELINE_ENTRY>;
