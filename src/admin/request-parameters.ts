import { type EventKey, FAILURE_STATES } from "../domain/index.ts";
import type { FailureFilter, Page, SearchPage, SearchResult } from "../store/index.ts";
import type { BulkReplayView, PageOf } from "./schemas.ts";

/** So long a request looks, of the 200 ms that it may take; what it has not seen until then is seen with the next cursor. */
export const BUDGET_MS = 75;
export const BOUNDED_SEARCH =
  "A request looks for less than a tenth of a second. Where the filter leaves little over, a page may have few items or none and still " +
  "a `next_cursor`, which goes on looking.";

/** PostgreSQL's text holds no NUL, so that nothing is stored under one; to ask for it is a mistake, and no fault of ours. */
export const NO_NUL = "^[^\\u0000]*$";

export function text(description: string, maxLength = 255) {
  return { type: "string", minLength: 1, maxLength, pattern: NO_NUL, description } as const;
}

/** Of the path, which may name whatever is stored. */
export function pathText(description: string) {
  return { type: "string", pattern: NO_NUL, description } as const;
}

export function flag(description: string) {
  return { type: "boolean", default: false, description } as const;
}

type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** Without the fields that are undefined. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

export const PAGE_QUERY = {
  limit: { type: "integer", minimum: 1, maximum: 200, default: 50 },
  cursor: {
    type: "string",
    pattern: "^[1-9][0-9]{0,15}$",
    description: "The `next_cursor` of the page before.",
  },
} as const;

/** Of a row. Beyond it a number is no longer the one that was written; PostgreSQL's bigint ends later. */
export const ID_PARAMS = { id: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } } as const;
export interface IdParams {
  readonly id: number;
}

export const EVENT_PARAMS = {
  source: { type: "string", pattern: NO_NUL },
  event_id: { type: "string", pattern: NO_NUL },
} as const;
export interface EventParams {
  readonly source: string;
  readonly event_id: string;
}
export const EVENT_QUERY = { event_id: text("Only rows of this event.") };
export const SOURCE_QUERY = { source: text("Exactly this, such as `stripe`, `stripe#audit` or `platform`.") };

export function eventKeyOf({ source, event_id }: EventParams): EventKey {
  return { source, eventId: event_id };
}

export function pageAt({ limit, cursor }: PageQuery): Page {
  return { limit, ...(cursor === undefined ? {} : { before: Number(cursor) }) };
}

export function cursorAt(next: number | null | undefined): string | null {
  return next == null ? null : String(next);
}

/** One row more than asked for tells whether there is another page. */
export async function pageOf<Row extends { id: number }, Item>(
  query: PageQuery,
  list: (page: Page) => Promise<Row[]>,
  present: (row: Row) => Item,
): Promise<PageOf<Item>> {
  const { limit } = query;
  const rows = await list({ ...pageAt(query), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  return {
    items: shown.map(present),
    next_cursor: cursorAt(rows.length > limit ? shown.at(-1)?.id : undefined),
  };
}

/** Where a filter may leave little over: a page of what a bounded look finds, and where it goes on. */
export async function searchPageOf<Row, Item>(
  query: PageQuery,
  search: (search: SearchPage) => Promise<SearchResult<Row>>,
  present: (row: Row) => Item,
): Promise<PageOf<Item>> {
  const { rows, next } = await search({ ...pageAt(query), budgetMs: BUDGET_MS });
  return { items: rows.map(present), next_cursor: cursorAt(next) };
}

export type FailureFilterQuery = Readonly<BulkReplayView["filter"]>;
export const FAILURE_FILTER = {
  state: { type: "string", enum: FAILURE_STATES },
  source: text("Such as `platform` or `oauth`."),
  event_type: text("Such as `payment_notify`."),
  code: text("Why the last attempt failed: a code of docs/errors.md, such as `handler_failed`."),
};

export function failureFilter(query: FailureFilterQuery): FailureFilter {
  const { state, source, event_type: eventType, code } = query;
  return defined({ state, source, eventType, code });
}
