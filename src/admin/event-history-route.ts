import type { FastifyInstance } from "fastify";
import type { EventKey } from "../domain/index.ts";
import type { Store, StoredFailure, StoredRecord } from "../store/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { EVENT_PARAMS, type EventParams, eventKeyOf } from "./event-params.ts";
import { presentNotification } from "./notification-routes.ts";
import { operation } from "./operation.ts";
import { presentFailure, presentRecord } from "./present.ts";
import type { EventHistoryView } from "./shapes.ts";
import { BEGINNING, type KnownOfEvent, type TimelinePlace, timelineAfter } from "./timeline.ts";

const MOST_ENTRIES = 200;
const MOST_NOTIFICATIONS = 200;
const LOOK_UP_MS = 5_000;

const QUERY = {
  type: "object",
  properties: {
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MOST_ENTRIES,
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
const HISTORY = operation({
  summary: "One event, with everything that happened to it",
  description:
    "Callbacks, and attempts beside them, are known as long as the callback log keeps them (`LOG_RETENTION_DAYS`).",
  params: EVENT_PARAMS,
  querystring: QUERY,
  answers: {
    200: { says: "What is known of it.", content: "EventHistory" },
    404: { says: "Nothing is known of such an event." },
  },
});

interface Asked {
  readonly Params: EventParams;
  readonly Querystring: { readonly limit: number; readonly cursor?: string };
}

/** `GET /api/v1/events/:source/:event_id`. */
export function registerEventHistory(app: FastifyInstance, { store, callbackLog }: AdminDeps): void {
  app.get<Asked>(
    "/api/v1/events/:source/:event_id",
    { schema: HISTORY },
    async ({ params, query }, reply) => {
      // What has been answered must be visible, also where its row still waits to be written.
      await callbackLog.flush();
      const key = eventKeyOf(params);
      const place = placeOf(query.cursor);
      const known = await knownOf(key, place, query.limit, store);
      if (isUnknown(known))
        return reply.code(404).send({ error: "nothing is known of an event under this source and event_id" });
      return historyView(key, known, place, query.limit);
    },
  );
}

function placeOf(cursor: string | undefined): TimelinePlace {
  if (cursor === undefined) return BEGINNING;
  const [callbackId = 0, attemptId = 0, at = 0] = cursor.split(".").map(Number);
  return { callbackId, attemptId, at };
}

async function knownOf(
  key: EventKey,
  place: TimelinePlace,
  limit: number,
  store: Store,
): Promise<KnownOfEvent> {
  const [callbacks, attempts, failure, record] = await Promise.all([
    store.callbacksOf(key, { after: place.callbackId, limit: limit + 1 }),
    store.attempts.list(key, { after: place.attemptId, limit: limit + 1 }),
    store.failures.get(key),
    store.find(key, performance.now() + LOOK_UP_MS),
  ]);
  const notifications = record === undefined ? [] : await store.outbox.ofEvent(record, MOST_NOTIFICATIONS);
  return { callbacks, attempts, failure, record, notifications };
}

function isUnknown({ callbacks, attempts, failure, record }: KnownOfEvent): boolean {
  return record === undefined && failure === undefined && callbacks.length + attempts.length === 0;
}

function historyView(
  { source, eventId }: EventKey,
  known: KnownOfEvent,
  place: TimelinePlace,
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
