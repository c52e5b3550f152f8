import { type RawBuilder, sql } from "kysely";
import type { Dialect } from "./transaction.ts";

/** PostgreSQL stores no NUL in text; a log row must not be lost for one. */
export function storableText<Text extends string | null>(text: Text): string | Extract<Text, null> {
  return text === null ? (text as Extract<Text, null>) : text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/** A condition that the primary key answers, in its order. */
export function idIn(dialect: Dialect, ids: readonly number[]): RawBuilder<unknown> {
  return dialect === "sqlite" ? sql`id IN ${idList(dialect, ids)}` : sql`id = ANY(${ids}::bigint[])`;
}

/** A table of one column, `id`; see `rowList`. */
export function idList(dialect: Dialect, ids: readonly number[]): RawBuilder<unknown> {
  return dialect === "sqlite"
    ? sql`(SELECT value AS id FROM json_each(${JSON.stringify(ids)}))`
    : sql`(SELECT id FROM unnest(${ids}::bigint[]) AS given(id) LIMIT ${ids.length})`;
}

/**
 * A table of these rows. The statement's text is the same however many there are, so that it is compiled once. PostgreSQL
 * expects few rows of what has a LIMIT that it does not know yet: a plan that is kept uses the indexes of what it is joined
 * with, and not a scan that is cheap only as long as that table is new and empty.
 * @param columns their types in PostgreSQL
 */
export function rowList<Column extends string>(
  dialect: Dialect,
  columns: Readonly<Record<Column, "bigint" | "text" | "timestamptz">>,
  rows: readonly Readonly<Record<Column, unknown>>[],
): RawBuilder<unknown> {
  const names = Object.keys(columns) as Column[];
  if (dialect === "sqlite") {
    const values = names.map((name) => sql`value ->> ${sql.lit(name)} AS ${sql.ref(name)}`);
    return sql`(SELECT ${sql.join(values)} FROM json_each(${JSON.stringify(rows)}))`;
  }
  const arrays = names.map((name) => sql`${rows.map((row) => row[name])}::${sql.raw(columns[name])}[]`);
  const list = sql.join(names.map((name) => sql.ref(name)));
  return sql`(SELECT * FROM unnest(${sql.join(arrays)}) AS given(${list}) LIMIT ${rows.length})`;
}
