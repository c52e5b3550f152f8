import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { EventKey } from "../domain/index.ts";
import type { Store, StoredAttempt, StoredCallback, StoredRecord } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";
import {
  presentEventReplay,
  presentFailure,
  presentMaskedNotification,
  presentMaskedRecord,
  presentRecordedRun,
} from "./present.ts";
import * as input from "./request-parameters.ts";
import type { EventHistoryView, TimelineEntry } from "./schemas.ts";

const MAX_NOTIFICATIONS = 200;
const MAX_REPLAYS = 200;
const MAX_RUNS = 10;
const LOOK_UP_MS = 5_000;

const LIST = operation({
  summary: "The records of processed events",
  description: input.BOUNDED_SEARCH,
  querystring: { ...input.PAGE_QUERY, ...input.EVENT_FILTER },
  responses: { 200: ["A page of them.", { pageOf: "Event" }] },
});
const GET = operation({
  summary: "One event and its timeline",
  description:
    "Callbacks, and attempts beside them, are known as long as the callback log keeps them (`LOG_RETENTION_DAYS`).",
  params: input.EVENT_PARAMS,
  querystring: {
    limit: input.wholeNumber(1, 200).default(100).describe("How many callbacks and attempts the time line shows."),
    cursor: z
      .string()
      .regex(/^[0-9]{1,15}\.[0-9]{1,15}\.[0-9]{1,15}$/)
      .describe("The `timeline_cursor` of the answer before.")
      .optional(),
  },
  responses: { 200: ["The event.", "EventHistory"], 404: "There is no such event." },
});

export function registerEvents(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, callbackLog, mask } = deps;
  app.get("/api/v1/events", LIST, async ({ query }) => {
    const filter = { source: query.source, eventId: query.event_id };
    const present = (row: StoredRecord) => presentMaskedRecord(row, mask);
    return input.searchPageOf(query, (search) => store.records.search(filter, search), present);
  });
  app.get("/api/v1/events/:source/:event_id", GET, async ({ params, query }): Promise<EventHistoryView> => {
    // A callback with a response must be visible, also where its row still waits to be written.
    await Promise.all([callbackLog.flush(), deps.statementLog?.flush()]);
    const position = parseCursor(query.cursor);
    const history = await readHistory(input.eventKeyOf(params), position, query.limit, store);
    const { callbacks, attempts, record, failure, notifications, runs, replays } = history;
    if (record === undefined && failure === undefined && callbacks.length + attempts.length === 0)
      throw new HttpError(404, "there is no event with this source and event_id");
    const { entries, next } = timelineAfter(position, history, query.limit);
    return {
      ...params,
      event: record === undefined ? null : presentMaskedRecord(record, mask),
      failure: failure === undefined ? null : presentFailure(failure, deps),
      timeline: entries,
      timeline_cursor: next === null ? null : `${next.callbackId}.${next.attemptId}.${next.at}`,
      notifications: notifications.map((row) => presentMaskedNotification(row, mask)),
      runs: runs.map(presentRecordedRun),
      replays: replays.map((row) => presentEventReplay(row, mask)),
    };
  });
}

function parseCursor(cursor: string | undefined): TimelinePosition {
  if (cursor === undefined) return TIMELINE_START;
  const [callbackId = 0, attemptId = 0, at = 0] = cursor.split(".").map(Number);
  return { callbackId, attemptId, at };
}

/** Callbacks and attempts come oldest first, and one more than `limit` where there are more. */
async function readHistory(key: EventKey, { callbackId, attemptId }: TimelinePosition, limit: number, store: Store) {
  const [callbacks, attempts, failure, record, runs, replays] = await Promise.all([
    store.callbacks.ofEvent(key, { after: callbackId, limit: limit + 1 }),
    store.attempts.list(key, { after: attemptId, limit: limit + 1 }),
    store.failures.get(key),
    store.find(key, performance.now() + LOOK_UP_MS),
    store.recordedRuns.list(key, MAX_RUNS),
    store.eventReplays.list(key, MAX_REPLAYS),
  ]);
  const notifications = record && (await store.notifications.ofEvent(record, MAX_NOTIFICATIONS, replays));
  return { callbacks, attempts, failure, record, notifications: notifications ?? [], runs, replays };
}

export type EventHistory = Awaited<ReturnType<typeof readHistory>>;

/** The end of the shown timeline: the last callback and attempt, and the last entry's time in milliseconds. */
export interface TimelinePosition {
  readonly callbackId: number;
  readonly attemptId: number;
  readonly at: number;
}

export const TIMELINE_START: TimelinePosition = { callbackId: 0, attemptId: 0, at: Number.NEGATIVE_INFINITY };

/** The entries after a position, and the position of the next ones; null at the end. */
export function timelineAfter(position: TimelinePosition, history: EventHistory, limit: number) {
  const { runs, next } = mergedAttempts(position, history, limit);
  const until = next?.at ?? Number.POSITIVE_INFINITY;
  const single = singleEntries(history).filter(({ at }) => Date.parse(at) > position.at && Date.parse(at) <= until);
  const entries = [...runs, ...single].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return { entries, next };
}

/** Takes both lists from their beginnings, whatever their times: a position then has the end of each. */
function mergedAttempts(position: TimelinePosition, { callbacks, attempts }: EventHistory, limit: number) {
  const runs: TimelineEntry[] = [];
  let [callback, attempt] = [0, 0];
  let { callbackId, attemptId, at } = position;
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

/** 5xx outcomes of callbacks whose handler did not run. */
const HANDLER_NOT_RUN: ReadonlySet<string> = new Set(["event_in_progress", "overloaded", "keys_unavailable"]);

/** Whether a callback ran a handler; a guess where the database was unavailable, which the row does not tell apart. */
function handlerRan({ outcome, responseStatus }: StoredCallback): boolean {
  if (outcome === "success" || outcome === "rejected") return true;
  return responseStatus >= 500 && !HANDLER_NOT_RUN.has(outcome);
}

function entryOfCallback(row: StoredCallback): TimelineEntry {
  const { receivedAt: at, id: callback_id, responseStatus: response_status, outcome, error } = row;
  const ended = { callback_id, response_status, outcome, error, duration_ms: row.processingMs };
  return handlerRan(row) ? { at, kind: "attempt", by: "callback", ...ended } : { at, kind: "delivery", ...ended };
}

function entryOfAttempt({ startedAt, trigger, outcome, error, durationMs }: StoredAttempt): TimelineEntry {
  const nowhere = { callback_id: null, response_status: null };
  return { at: startedAt, kind: "attempt", by: trigger, ...nowhere, outcome, error, duration_ms: durationMs };
}

function singleEntries({ record, failure, notifications }: EventHistory): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  if (failure !== undefined) {
    const { state, code, firstFailedAt, lastFailedAt } = failure;
    // Retries ended when the last attempt failed, not when the first one did.
    const isOver = state === "exhausted" || state === "rejected";
    entries.push({ at: isOver ? lastFailedAt : firstFailedAt, kind: "failure", state, code });
  }
  for (const { id, topic, createdAt, deliveries } of notifications) {
    const what = { kind: "notification", notification_id: id, topic } as const;
    entries.push({ at: createdAt, ...what, state: "enqueued", channel: null });
    for (const { deliveredAt, channel } of deliveries)
      if (deliveredAt !== null) entries.push({ at: deliveredAt, ...what, state: "delivered", channel });
  }
  // Last, since the handler's notifications may have the same millisecond.
  const processedAt = record?.processedAt ?? null;
  if (processedAt !== null) entries.push({ at: processedAt, kind: "record", status: "completed" });
  return entries;
}
