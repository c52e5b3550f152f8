import { setImmediate as nextTurn } from "node:timers/promises";
import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import { remembered } from "../domain/index.ts";
import type { StoreErrorReason } from "./store-errors.ts";
import type { Dialect, ExecuteResult } from "./transaction.ts";

/** Runs statements, each on a connection of the pool, or all of them in one transaction. */
export type Query = QueryExecutorProvider;

export type TableName = `oncehook_${string}`;

/** How areas read and write a database, beside the hot path; SQLite reads beside its one writer. */
export interface Database {
  readonly dialect: Dialect;
  /** Both databases return times as ISO 8601 and integers as numbers, and take `Date`s. */
  readonly read: Query;
  readonly write: Query;
  /**
   * As `read`, for the first rows of a queue. PostgreSQL walks the index until it has them. It would collect and sort the whole
   * queue where it expects few rows, as in a young database (decision 0125).
   */
  readonly readFirst: Query;
  /** Whether an error passes by itself, as a busy database does. */
  readonly transientReason: (error: unknown) => StoreErrorReason | undefined;
  /** Whether a value was refused, by a constraint or for its type: the same statement fails again. */
  readonly isDataError: (error: unknown) => boolean;
  /**
   * Several statements in one transaction; it may be run again where a passing fault stopped it.
   */
  transact<T>(work: (query: Query) => Promise<T>, options?: TransactOptions): Promise<T>;
}

export interface TransactOptions {
  /** No response waits for it, so SQLite commits it with the next group of events. */
  readonly mayWait?: boolean;
  /** Its statements find rows as `readFirst` does. */
  readonly takesFirst?: boolean;
}

/** Rows that one statement deletes or walks past, so that no callback waits long for the writer. */
export const ROWS_PER_STEP = 1_000;

/** One subject of the store with all of its SQL, written once for both databases. */
export abstract class Area {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  protected read<Row>(text: TemplateStringsArray, ...values: unknown[]): Promise<readonly Row[]> {
    return select(this.database, sql(text, ...values));
  }

  /** Runs a statement in a transaction of its own. */
  protected write<Row = never>(text: TemplateStringsArray, ...values: unknown[]): Promise<ExecuteResult<Row>> {
    return run(this.database.write, sql(text, ...values));
  }

  /** Deletes rows in steps with a turn of the event loop between. Rows that another process holds stay. @returns how many */
  protected async deleteInSteps(
    table: TableName,
    where: RawBuilder<unknown>,
    orderBy: string,
    { step = ROWS_PER_STEP, isStopping = (): boolean => false } = {},
  ): Promise<number> {
    const isPostgres = this.database.dialect === "postgres";
    const [rows, row] = [sql.table(table), sql.raw(isPostgres ? "ctid" : "rowid")];
    const next = sql`SELECT ${row} FROM ${rows} WHERE ${where}
      ORDER BY ${sql.ref(orderBy)} LIMIT ${sql.lit(step)} ${this.skipLocked}`;
    const isNext = isPostgres ? sql`ctid = ANY (ARRAY(${next}))` : sql`rowid IN (${next})`;
    let deleted = 0;
    while (!isStopping()) {
      const { changes } = await this.write`DELETE FROM ${rows} WHERE ${isNext} AND ${where}`;
      deleted += changes;
      if (changes < step) break;
      await nextTurn();
    }
    return deleted;
  }

  /** At the end of a SELECT whose rows several processes share without waiting for each other; SQLite has one writer anyway. */
  protected get skipLocked(): RawBuilder<unknown> {
    return this.database.dialect === "postgres" ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  }
}

/** Runs a statement that changes nothing. */
export async function select<Row>({ read }: Database, statement: RawBuilder<unknown>): Promise<readonly Row[]> {
  return (await run<Row>(read, statement)).rows;
}

/** Runs a statement, such as one inside `transact`. */
export async function run<Row = never>(query: Query, statement: RawBuilder<unknown>): Promise<ExecuteResult<Row>> {
  const { rows, numAffectedRows = 0n } = await statement.execute(query);
  return {
    rows: inCamelCase(rows as readonly Values[]) as unknown as readonly Row[],
    changes: Number(numAffectedRows),
  };
}

/** Values by their columns' names in camel case; a value may be an expression in SQL. */
export type Values = Readonly<Record<string, unknown>>;

export function insert(table: TableName, values: Values): RawBuilder<unknown> {
  const columns = sql.join(Object.keys(values).map(column));
  return sql`INSERT INTO ${sql.table(table)} (${columns}) VALUES (${sql.join(Object.values(values))})`;
}

export function assign(values: Values): RawBuilder<unknown> {
  return sql.join(Object.entries(values).map(([name, value]) => sql`${column(name)} = ${value}`));
}

/** A condition on the members that are given; true where there is none. */
export function equal(values: Values): RawBuilder<unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const conditions = given.map(([name, value]) => sql`${column(name)} = ${value}`);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}

/** PostgreSQL stores no NUL in text; a log row must not be lost for one. */
export function storableText<Text extends string | null>(text: Text): string | Extract<Text, null> {
  if (text === null) return text as Extract<Text, null>;
  return text.isWellFormed() && !text.includes("\0") ? text : text.toWellFormed().replaceAll("\0", "\uFFFD");
}

export interface IdRow {
  readonly id: number;
}

export function idsOf(rows: readonly IdRow[]): number[] {
  return rows.map(({ id }) => id);
}

/** A condition that the primary key answers, in its order. */
export function idIn(dialect: Dialect, ids: readonly number[]): RawBuilder<unknown> {
  return dialect === "sqlite" ? sql`id IN ${idList(dialect, ids)}` : sql`id = ANY(${ids}::bigint[])`;
}

/** A table of one column, `id`; see `rowList`. */
export function idList(dialect: Dialect, ids: readonly number[]): RawBuilder<unknown> {
  const rows = ids.map((id) => ({ id }));
  return rowList(dialect, { id: "bigint" }, rows);
}

/**
 * A table of these rows. The statement's text is the same however many there are, so that it is compiled once. PostgreSQL
 * expects few rows of a list with a LIMIT that it does not know yet. So the plan that it keeps uses the indexes of the joined
 * tables. A scan is cheap only as long as such a table is new and empty.
 * @param columns their types in PostgreSQL
 */
export function rowList<Column extends string>(
  dialect: Dialect,
  columns: Readonly<Record<Column, "bigint" | "text" | "timestamptz" | "float8">>,
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

export function columnName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function column(name: string): RawBuilder<unknown> {
  return sql.ref(columnName(name));
}

/** @param rows of one statement, so that all have the columns of the first */
function inCamelCase(rows: readonly Values[]): object[] {
  const names = Object.keys(rows[0] ?? {});
  const camelNames = names.map(camelCase);
  return rows.map((row) => {
    const camel: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) camel[camelNames[index] as string] = row[name];
    return camel;
  });
}

const MAX_NAMES = 1_000;
const camelCase = remembered(
  (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  MAX_NAMES,
);
