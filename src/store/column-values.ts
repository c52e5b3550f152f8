import { type RawBuilder, sql } from "kysely";
import type { StoredInteger, StoredTime } from "./tables.ts";
import type { Dialect } from "./transaction.ts";

export function isoTime(time: StoredTime): string {
  return typeof time === "string" ? time : time.toISOString();
}

/** PostgreSQL stores no NUL in text; a log row must not be lost for one. */
export function storableText<Text extends string | null>(text: Text): string | Extract<Text, null> {
  return text === null ? (text as Extract<Text, null>) : text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/**
 * A table of one column, `id`. The statement's text is the same however many ids there are, so that it is compiled once.
 */
export function idList(dialect: Dialect, ids: readonly StoredInteger[]): RawBuilder<unknown> {
  return dialect === "postgres"
    ? sql`(SELECT unnest(${ids}::bigint[]) AS id)`
    : sql`(SELECT value AS id FROM json_each(${JSON.stringify(ids)}))`;
}
