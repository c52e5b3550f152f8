import type { EventKey } from "../domain/index.ts";
import type { FailureFilter, Page, SearchPage, SearchResult, StoredFailure } from "../store/index.ts";
import type { PageOf } from "./schemas.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
/** So long a request looks, of the 200 ms that it may take; what it has not seen until then is seen with the next cursor. */
export const BUDGET_MS = 75;
/** What the description of the API says of that. */
export const BOUNDED_SEARCH =
  "A request looks for less than a tenth of a second. Where the filter leaves little over, a page may have few items or none and still " +
  "a `next_cursor`, which goes on looking.";

/** PostgreSQL's text holds no NUL, so that nothing is stored under one; to ask for it is a mistake, and no fault of ours. */
export const NO_NUL = "^[^\\u0000]*$";

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

/** The query parameters that every list takes, for Fastify's validation. */
export const PAGE_QUERY = {
  limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  cursor: {
    type: "string",
    pattern: "^[1-9][0-9]{0,15}$",
    description: "The `next_cursor` of the page before.",
  },
} as const;

/** One row more than asked for tells whether there is another page. */
export async function pageOf<Row extends { id: number }, Item>(
  { limit, cursor }: PageQuery,
  list: (page: Page) => Promise<Row[]>,
  present: (row: Row) => Item,
): Promise<PageOf<Item>> {
  const before = cursor === undefined ? {} : { before: Number(cursor) };
  const rows = await list({ limit: limit + 1, ...before });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { items: shown.map(present), next_cursor: last === undefined ? null : String(last.id) };
}

/** Where a filter may leave little over: a page of what a bounded look finds, and where it goes on. */
export async function searchPageOf<Row, Item>(
  { limit, cursor }: PageQuery,
  search: (search: SearchPage) => Promise<SearchResult<Row>>,
  present: (row: Row) => Item,
): Promise<PageOf<Item>> {
  const before = cursor === undefined ? {} : { before: Number(cursor) };
  const { rows, next } = await search({ limit, ...before, budgetMs: BUDGET_MS });
  return { items: rows.map(present), next_cursor: next === null ? null : String(next) };
}

/** Of an address that ends in `:source/:event_id`, for Fastify's validation. */
export const EVENT_PARAMS = {
  type: "object",
  properties: { source: { type: "string", pattern: NO_NUL }, event_id: { type: "string", pattern: NO_NUL } },
} as const;

export interface EventParams {
  readonly source: string;
  readonly event_id: string;
}

export function eventKeyOf({ source, event_id }: EventParams): EventKey {
  return { source, eventId: event_id };
}

/** Which failures are meant, as requests say it. */
export interface FailureFilterQuery {
  readonly state?: StoredFailure["state"];
  readonly source?: string;
  readonly event_type?: string;
  readonly code?: string;
}

const text = (description: string) => ({
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: NO_NUL,
  description,
});

/** For Fastify's validation. */
export const FAILURE_FILTER = {
  state: { type: "string", enum: ["waiting", "exhausted"] },
  source: text("Such as `platform` or `oauth`."),
  event_type: text("Such as `payment_notify`."),
  code: text("Why the last attempt failed: a code of docs/errors.md, such as `handler_failed`."),
};

export function failureFilter({ state, source, event_type, code }: FailureFilterQuery): FailureFilter {
  return {
    ...(state === undefined ? {} : { state }),
    ...(source === undefined ? {} : { source }),
    ...(event_type === undefined ? {} : { eventType: event_type }),
    ...(code === undefined ? {} : { code }),
  };
}
