import type { FastifyInstance } from "fastify";
import type { EventKey } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";
import { presentFailure, presentNotification, presentRecord } from "./present.ts";
import * as input from "./request-parameters.ts";
import type { EventHistoryView } from "./schemas.ts";
import { type EventHistory, TIMELINE_START, type TimelinePosition, timelineAfter } from "./timeline.ts";

const MAX_NOTIFICATIONS = 200;
const LOOK_UP_MS = 5_000;

const LIST = operation<{ Querystring: input.PageQuery & { event_id?: string } }>({
  summary: "The records of processed events",
  querystring: { ...input.PAGE_QUERY, ...input.EVENT_QUERY },
  responses: { 200: ["A page of them.", { pageOf: "Event" }] },
});
const GET = operation<{ Params: input.EventParams; Querystring: input.PageQuery }>({
  summary: "One event and its timeline",
  description:
    "Callbacks, and attempts beside them, are known as long as the callback log keeps them (`LOG_RETENTION_DAYS`).",
  params: input.EVENT_PARAMS,
  querystring: {
    limit: {
      type: "integer",
      minimum: 1,
      maximum: 200,
      default: 100,
      description: "How many callbacks and attempts the time line shows.",
    },
    cursor: {
      type: "string",
      pattern: "^[0-9]{1,15}\\.[0-9]{1,15}\\.[0-9]{1,15}$",
      description: "The `timeline_cursor` of the answer before.",
    },
  },
  responses: { 200: ["The event.", "EventHistory"], 404: "There is no such event." },
});

export function registerEvents(app: FastifyInstance, { store, callbackLog }: AdminDependencies): void {
  app.get("/api/v1/events", LIST, async ({ query }) => {
    const filter = input.defined({ eventId: query.event_id });
    return input.pageOf(query, (page) => store.records.list(page, filter), presentRecord);
  });
  app.get("/api/v1/events/:source/:event_id", GET, async ({ params, query }): Promise<EventHistoryView> => {
    // What has been answered must be visible, also where its row still waits to be written.
    await callbackLog.flush();
    const position = parseCursor(query.cursor);
    const known = await readHistory(input.eventKeyOf(params), position, query.limit, store);
    const { callbacks, attempts, record, failure, notifications } = known;
    if (record === undefined && failure === undefined && callbacks.length + attempts.length === 0)
      throw new HttpError(404, "there is no event with this source and event_id");
    const { entries, next } = timelineAfter(position, known, query.limit);
    return {
      ...params,
      event: record === undefined ? null : presentRecord(record),
      failure: failure === undefined ? null : presentFailure(failure),
      timeline: entries,
      timeline_cursor: next === null ? null : `${next.callbackId}.${next.attemptId}.${next.at}`,
      notifications: notifications.map(presentNotification),
    };
  });
}

function parseCursor(cursor: string | undefined): TimelinePosition {
  if (cursor === undefined) return TIMELINE_START;
  const [callbackId = 0, attemptId = 0, at = 0] = cursor.split(".").map(Number);
  return { callbackId, attemptId, at };
}

async function readHistory(
  key: EventKey,
  { callbackId, attemptId }: TimelinePosition,
  limit: number,
  store: Store,
): Promise<EventHistory> {
  const [callbacks, attempts, failure, record] = await Promise.all([
    store.callbacks.ofEvent(key, { after: callbackId, limit: limit + 1 }),
    store.attempts.list(key, { after: attemptId, limit: limit + 1 }),
    store.failures.get(key),
    store.find(key, performance.now() + LOOK_UP_MS),
  ]);
  const notifications =
    record === undefined ? [] : await store.notifications.ofEvent(record, MAX_NOTIFICATIONS);
  return { callbacks, attempts, failure, record, notifications };
}
