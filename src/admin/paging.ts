import type { Page } from "../store/index.ts";
import type { PageOf } from "./shapes.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

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
