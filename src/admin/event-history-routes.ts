import type { FastifyInstance } from "fastify";
import type { EventKey } from "../domain/index.ts";
import type { Store, StoredFailure, StoredRecord } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { presentNotification } from "./notification-routes.ts";
import { operation } from "./operation.ts";
import { presentFailure, presentRecord } from "./present.ts";
import { EVENT_PARAMS, type EventParams, eventKeyOf } from "./request-parameters.ts";
import type { EventHistoryView } from "./schemas.ts";
import { type EventHistory, TIMELINE_START, type TimelinePosition, timelineAfter } from "./timeline.ts";

const MAX_ENTRIES = 200;
const MAX_NOTIFICATIONS = 200;
const LOOK_UP_MS = 5_000;

const QUERY = {
  type: "object",
  properties: {
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MAX_ENTRIES,
      default: 100,
      description: "How many callbacks and attempts the time line shows.",
    },
    cursor: {
      type: "string",
      pattern: "^[0-9]{1,15}\\.[0-9]{1,15}\\.[0-9]{1,15}$",
      description: "The `timeline_cursor` of the answer before.",
    },
  },
  additionalProperties: false,
} as const;
const GET = operation({
  summary: "One event and its timeline",
  description:
    "Callbacks, and attempts beside them, are known as long as the callback log keeps them (`LOG_RETENTION_DAYS`).",
  params: EVENT_PARAMS,
  querystring: QUERY,
  responses: {
    200: { description: "The event.", content: "EventHistory" },
    404: { description: "There is no such event." },
  },
});

interface Asked {
  readonly Params: EventParams;
  readonly Querystring: { readonly limit: number; readonly cursor?: string };
}

/** `GET /api/v1/events/:source/:event_id`. */
export function registerEventHistory(app: FastifyInstance, { store, callbackLog }: AdminDependencies): void {
  app.get<Asked>("/api/v1/events/:source/:event_id", { schema: GET }, async ({ params, query }, reply) => {
    // What has been answered must be visible, also where its row still waits to be written.
    await callbackLog.flush();
    const key = eventKeyOf(params);
    const position = parseCursor(query.cursor);
    const history = await readHistory(key, position, query.limit, store);
    if (isUnknown(history))
      return reply.code(404).send({ error: "there is no event with this source and event_id" });
    return historyView(key, history, position, query.limit);
  });
}

function parseCursor(cursor: string | undefined): TimelinePosition {
  if (cursor === undefined) return TIMELINE_START;
  const [callbackId = 0, attemptId = 0, at = 0] = cursor.split(".").map(Number);
  return { callbackId, attemptId, at };
}

async function readHistory(
  key: EventKey,
  place: TimelinePosition,
  limit: number,
  store: Store,
): Promise<EventHistory> {
  const [callbacks, attempts, failure, record] = await Promise.all([
    store.callbacks.ofEvent(key, { after: place.callbackId, limit: limit + 1 }),
    store.attempts.list(key, { after: place.attemptId, limit: limit + 1 }),
    store.failures.get(key),
    store.find(key, performance.now() + LOOK_UP_MS),
  ]);
  const notifications =
    record === undefined ? [] : await store.notifications.ofEvent(record, MAX_NOTIFICATIONS);
  return { callbacks, attempts, failure, record, notifications };
}

function isUnknown({ callbacks, attempts, failure, record }: EventHistory): boolean {
  return record === undefined && failure === undefined && callbacks.length + attempts.length === 0;
}

function historyView(
  { source, eventId }: EventKey,
  known: EventHistory,
  place: TimelinePosition,
  limit: number,
): EventHistoryView {
  const { entries, next } = timelineAfter(place, known, limit);
  return {
    source,
    event_id: eventId,
    event: orNull<StoredRecord, EventHistoryView["event"]>(known.record, presentRecord),
    failure: orNull<StoredFailure, EventHistoryView["failure"]>(known.failure, presentFailure),
    timeline: entries,
    timeline_cursor: next === null ? null : `${next.callbackId}.${next.attemptId}.${next.at}`,
    notifications: known.notifications.map(presentNotification),
  };
}

function orNull<Row, View>(row: Row | undefined, present: (row: Row) => View): View | null {
  return row === undefined ? null : present(row);
}
