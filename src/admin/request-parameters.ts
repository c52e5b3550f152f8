import { z } from "zod";
import { type EventKey, FAILURE_STATES, hasRealDay } from "../domain/index.ts";
import type { BulkReplayFilter, FailureFilter, Page, SearchPage, SearchResult } from "../store/index.ts";
import { anyText } from "./page-schemas.ts";

/** How long a request searches, of the 200 ms that it may take. The next cursor continues the search. */
export const BUDGET_MS = 75;
export const BOUNDED_SEARCH =
  "A request looks for less than a tenth of a second. Where the filter leaves little over, a page may have few items or none and still " +
  "a `next_cursor`, which goes on looking.";

export function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

export function text(description: string, maxLength = 255) {
  return anyText.min(1).max(maxLength).describe(description);
}

/** Of a filter, which may be left out. */
export function filterText(description: string, maxLength?: number) {
  return text(description, maxLength).optional();
}

/** False where it is left out; a query has it as text. */
export const flag = z
  .preprocess((value) => (value === "true" || value === "false" ? value === "true" : value), z.boolean())
  .default(false)
  .meta({ default: false });

export function wholeNumber(least: number, most: number) {
  return z.coerce.number<number>().int().min(least).max(most);
}

const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)$/i;

export const timeFilter = (description: string) =>
  z
    .string()
    .refine((time) => ISO_TIME.test(time) && hasRealDay(time) && !Number.isNaN(Date.parse(time)))
    .meta({ format: "date-time", description })
    .optional();

/** No callback came before or after; past the year 9999 ISO 8601 has another form. */
const [EARLIEST, LATEST] = [0, Date.UTC(9999, 0)];

export function isoTime(text: string): string {
  return new Date(Math.min(Math.max(Date.parse(text), EARLIEST), LATEST)).toISOString();
}

export const PAGE_QUERY = {
  limit: wholeNumber(1, 200).default(50),
  cursor: z
    .string()
    .regex(/^[1-9][0-9]{0,15}$/)
    .describe("The `next_cursor` of the page before.")
    .optional(),
};
type PageQuery = z.output<z.ZodObject<typeof PAGE_QUERY>>;

/** Of a row. Beyond it a number is no longer the one that was written; PostgreSQL's bigint ends later. */
export const ID_PARAMS = { id: wholeNumber(1, Number.MAX_SAFE_INTEGER) };

export const EVENT_PARAMS = { source: anyText, event_id: anyText };
export const EVENT_QUERY = { event_id: filterText("Only rows of this event.") };
export const EVENT_FILTER = {
  source: filterText("Exactly this, such as `stripe`, `stripe#audit` or `platform`."),
  ...EVENT_QUERY,
};

export type InputOf<Fields extends z.core.$ZodLooseShape> = z.input<z.ZodObject<Fields>>;

export function eventKeyOf({ source, event_id }: InputOf<typeof EVENT_PARAMS>): EventKey {
  return { source, eventId: event_id };
}

export function pageAt({ limit, cursor }: PageQuery): Page {
  return { limit, before: cursor === undefined ? undefined : Number(cursor) };
}

export function cursorAt(next: number | null | undefined): string | null {
  return next == null ? null : String(next);
}

/** One row more than asked for tells whether there is another page. */
export async function pageOf<Row extends { id: number }, Item>(
  query: PageQuery,
  list: (page: Page) => Promise<Row[]>,
  present: (row: Row) => Item,
) {
  const { limit } = query;
  const rows = await list({ ...pageAt(query), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  return {
    items: shown.map(present),
    next_cursor: cursorAt(rows.length > limit ? shown.at(-1)?.id : undefined),
  };
}

/** A page of a bounded search, and its cursor: a selective filter may need several. */
export async function searchPageOf<Row, Item>(
  query: PageQuery,
  search: (search: SearchPage) => Promise<SearchResult<Row>>,
  present: (row: Row) => Item,
) {
  const { rows, next } = await search({ ...pageAt(query), budgetMs: BUDGET_MS });
  return { items: rows.map(present), next_cursor: cursorAt(next) };
}

export const OUTCOME_NAMES =
  "`success`, `already_processed`, `accepted`, `ignored`, `handshake` or a code of docs/errors.md";
export const FAILURE_FILTER = {
  state: z.enum(FAILURE_STATES).optional(),
  source: filterText("Such as `platform` or `oauth`."),
  event_type: filterText("Such as `payment_notify`."),
  code: filterText("Why the last attempt failed: a code of docs/errors.md, such as `handler_failed`."),
  problem: filterText("Of this problem, by the id that `GET /api/v1/problems` shows.", 64),
  bulk_replay: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/)
    .describe("That failed in the bulk replay of this id, and that no later one has tried.")
    .optional(),
};

export function failureFilter(query: z.output<z.ZodObject<typeof FAILURE_FILTER>>): FailureFilter {
  const { state, source, event_type: eventType, code, problem, bulk_replay } = query;
  const bulkReplay = bulk_replay === undefined ? undefined : Number(bulk_replay);
  return { state, source, eventType, code, problem, bulkReplay };
}

/** Of the audit log's detail, and shown beside the result. */
export const MAX_REASON = 500;

/** Of failures, or with `from` and `to` of handled events. */
export const BULK_FILTER = {
  ...FAILURE_FILTER,
  from: timeFilter("Of handled events: those that were handled then or later; ISO 8601 with its time zone."),
  to: timeFilter("Of handled events: those that were handled before it."),
};

export function bulkFilter({ from, to, ...query }: z.output<z.ZodObject<typeof BULK_FILTER>>): BulkReplayFilter {
  return { ...failureFilter(query), from: from && isoTime(from), to: to && isoTime(to) };
}
