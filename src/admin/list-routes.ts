import type { FastifyInstance } from "fastify";
import type { StoredFailure } from "../store/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { NO_NUL, PAGE_QUERY, type PageQuery, pageOf } from "./paging.ts";
import { presentCallback, presentFailure, presentRecord } from "./present.ts";

const EVENT_QUERY = {
  ...PAGE_QUERY,
  event_id: { type: "string", minLength: 1, maxLength: 255, pattern: NO_NUL },
} as const;
const FAILURE_QUERY = { ...PAGE_QUERY, state: { type: "string", enum: ["waiting", "exhausted"] } } as const;

/** `GET /api/callbacks`, `/api/events` and `/api/failures`: newest first, paged by cursor. */
export function registerLists(app: FastifyInstance, { store, callbackLog }: AdminDeps): void {
  app.get<{ Querystring: PageQuery & { event_id?: string } }>(
    "/api/callbacks",
    { schema: { querystring: strict(EVENT_QUERY) } },
    async ({ query }) => {
      // What has been answered must be visible, also where its row still waits to be written.
      await callbackLog.flush();
      return pageOf(query, (page) => store.listCallbacks(page, eventFilter(query)), presentCallback);
    },
  );
  app.get<{ Querystring: PageQuery & { event_id?: string } }>(
    "/api/events",
    { schema: { querystring: strict(EVENT_QUERY) } },
    async ({ query }) => pageOf(query, (page) => store.listRecords(page, eventFilter(query)), presentRecord),
  );
  app.get<{ Querystring: PageQuery & { state?: StoredFailure["state"] } }>(
    "/api/failures",
    { schema: { querystring: strict(FAILURE_QUERY) } },
    async ({ query }) => {
      const filter = query.state === undefined ? {} : { state: query.state };
      return pageOf(query, (page) => store.failures.list(page, filter), presentFailure);
    },
  );
}

function eventFilter({ event_id }: { event_id?: string }): { eventId?: string } {
  return event_id === undefined ? {} : { eventId: event_id };
}

function strict(properties: object): object {
  return { type: "object", properties, additionalProperties: false };
}
