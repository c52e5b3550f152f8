import type {
  ListedNotification,
  LoggedCallback,
  StoredAttempt,
  StoredFailure,
  StoredRecord,
} from "../store/index.ts";
import type { TimelineEntry } from "./timeline-shapes.ts";

/** What is known of one event. Callbacks and attempts come oldest first, and one more than `limit` where there are more. */
export interface KnownOfEvent {
  readonly callbacks: readonly LoggedCallback[];
  readonly attempts: readonly StoredAttempt[];
  readonly record: StoredRecord | undefined;
  readonly failure: StoredFailure | undefined;
  readonly notifications: readonly ListedNotification[];
}

/** How far a time line was shown: the last callback and attempt, and the time of the last entry, in milliseconds. */
export interface TimelinePlace {
  readonly callbackId: number;
  readonly attemptId: number;
  readonly at: number;
}

export const BEGINNING: TimelinePlace = { callbackId: 0, attemptId: 0, at: Number.NEGATIVE_INFINITY };

/** The stretch of a time line after a place, and where it goes on; null at its end. */
export function timelineAfter(
  place: TimelinePlace,
  known: KnownOfEvent,
  limit: number,
): { readonly entries: TimelineEntry[]; readonly next: TimelinePlace | null } {
  const { runs, next } = merged(place, known, limit);
  const until = next?.at ?? Number.POSITIVE_INFINITY;
  const others = momentsOf(known).filter(({ at }) => Date.parse(at) > place.at && Date.parse(at) <= until);
  const entries = [...runs, ...others].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return { entries, next };
}

/** Both lists are taken from their beginnings, whatever the times in them: so that a place says what was shown of each. */
function merged(place: TimelinePlace, { callbacks, attempts }: KnownOfEvent, limit: number) {
  const runs: TimelineEntry[] = [];
  let [callback, attempt] = [0, 0];
  let { callbackId, attemptId, at } = place;
  while (runs.length < limit) {
    const came = callbacks[callback];
    const ran = attempts[attempt];
    if (came === undefined && ran === undefined) return { runs, next: null };
    if (ran === undefined || (came !== undefined && came.receivedAt <= ran.beganAt)) {
      runs.push(entryOfCallback(came as LoggedCallback));
      callbackId = (came as LoggedCallback).id;
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
const NEVER_RAN: ReadonlySet<string> = new Set(["event_in_progress", "overloaded", "keys_unavailable"]);

/** Whether a callback ran a handler. Where the database was away nobody can tell from the row; it says so itself. */
function ran({ outcome, responseStatus }: LoggedCallback): boolean {
  if (outcome === "success" || outcome === "rejected") return true;
  return responseStatus >= 500 && !NEVER_RAN.has(outcome);
}

function entryOfCallback(row: LoggedCallback): TimelineEntry {
  const { receivedAt: at, id: callback_id, responseStatus: response_status, outcome, error } = row;
  const ended = { callback_id, response_status, outcome, error, took_ms: row.processingMs };
  return ran(row) ? { at, kind: "attempt", by: "callback", ...ended } : { at, kind: "delivery", ...ended };
}

function entryOfAttempt({ beganAt, by, outcome, error, tookMs }: StoredAttempt): TimelineEntry {
  const nowhere = { callback_id: null, response_status: null };
  return { at: beganAt, kind: "attempt", by, ...nowhere, outcome, error, took_ms: tookMs };
}

/** What happened once. */
function momentsOf({ record, failure, notifications }: KnownOfEvent): TimelineEntry[] {
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
