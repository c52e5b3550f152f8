import { type RawBuilder, sql } from "kysely";
import type { StoredInteger } from "../tables.ts";
import type { Dialect } from "../transaction.ts";

/**
 * A table of one column, `id`. The statement's text is the same however many ids there are, so that it is compiled once.
 */
export function idList(dialect: Dialect, ids: readonly StoredInteger[]): RawBuilder<unknown> {
  return dialect === "postgres"
    ? sql`(SELECT unnest(${ids}::bigint[]) AS id)`
    : sql`(SELECT value AS id FROM json_each(${JSON.stringify(ids)}))`;
}
