import type { FastifyInstance } from "fastify";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import { presentFailure, presentRecord } from "./present.ts";
import {
  BOUNDED_SEARCH,
  FAILURE_FILTER,
  type FailureFilterQuery,
  failureFilter,
  NO_NUL,
  PAGE_QUERY,
  type PageQuery,
  pageOf,
  searchPageOf,
} from "./request-parameters.ts";

const OF_EVENT = {
  event_id: {
    type: "string",
    minLength: 1,
    maxLength: 255,
    pattern: NO_NUL,
    description: "Only rows of this event.",
  },
} as const;
const EVENT_QUERY = { ...PAGE_QUERY, ...OF_EVENT };
const FAILURE_QUERY = { ...PAGE_QUERY, ...FAILURE_FILTER, ...OF_EVENT };

/** `GET /api/v1/events` and `/api/v1/failures`: newest first, paged by cursor. */
export function registerLists(app: FastifyInstance, { store }: AdminDependencies): void {
  app.get<{ Querystring: PageQuery & { event_id?: string } }>(
    "/api/v1/events",
    {
      schema: operation({
        summary: "The records of processed events",
        querystring: strict(EVENT_QUERY),
        responses: { 200: { description: "A page of them.", content: { pageOf: "Event" } } },
      }),
    },
    async ({ query }) => pageOf(query, (page) => store.records.list(page, eventFilter(query)), presentRecord),
  );
  app.get<{ Querystring: PageQuery & FailureFilterQuery & { event_id?: string } }>(
    "/api/v1/failures",
    {
      schema: operation({
        summary: "Failed events: waiting for a retry, or retries exhausted",
        description: BOUNDED_SEARCH,
        querystring: strict(FAILURE_QUERY),
        responses: { 200: { description: "A page of them.", content: { pageOf: "Failure" } } },
      }),
    },
    async ({ query }) => {
      const filter = { ...failureFilter(query), ...eventFilter(query) };
      return searchPageOf(query, (search) => store.failures.search(filter, search), presentFailure);
    },
  );
}

function eventFilter({ event_id }: { event_id?: string }): { eventId?: string } {
  return event_id === undefined ? {} : { eventId: event_id };
}

function strict(properties: object): object {
  return { type: "object", properties, additionalProperties: false };
}
