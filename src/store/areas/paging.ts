import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { Area, type Database, type IdRow, idList, select, type TableName } from "../database.ts";
import type { Dialect } from "../transaction.ts";

/** Newest first: rows with an id below `before`. */
export interface Page {
  readonly limit: number;
  readonly before?: number | undefined;
}

/** `before` of the first page. */
export const NEWEST = Number.MAX_SAFE_INTEGER;

export interface SearchPage extends Page {
  /** How long the search may take; it always completes one step. */
  readonly budgetMs: number;
}

export interface SearchResult<Row> {
  readonly rows: readonly Row[];
  /** The search continues here, as `before`; null at its end. */
  readonly next: number | null;
}

/** Oldest first: rows with an id above `after`. */
export interface ForwardPage {
  readonly after: number;
  readonly limit: number;
}

export abstract class SearchedArea<Filter, Row> extends Area {
  abstract search(filter: Filter, page: SearchPage): Promise<SearchResult<Row>>;

  /** A page, however long it takes to find. */
  async list(page: Page, filter: Filter): Promise<readonly Row[]> {
    return (await this.search(filter, { ...page, budgetMs: Number.POSITIVE_INFINITY })).rows;
  }
}

/** On SQLite a step blocks the event loop; on PostgreSQL it only costs a round trip. */
const STEP_MS = { sqlite: 4, postgres: 25 } as const;
/** A turn of the loop that takes longer has done something for others. A callback waits for a few turns. */
const OTHERS_MS = 0.3;
const STEP_MS_BESIDE_OTHERS = 2;

/** How many rows a walk reads in its first step, and at most in any. */
export interface StepSizes {
  readonly first: number;
  readonly most: number;
}

/** Two thousand take about a millisecond or two; on a cold disk, more. */
const STEPS: StepSizes = { first: 256, most: 2_000 };

/**
 * Reads the next `step` rows with an id below, newest first, and returns at most `limit` of those that match. `reached` is the
 * oldest id that was read; undefined where there is none below it.
 */
export type SearchStep<Row> = (
  below: number,
  step: number,
  limit: number,
) => Promise<{ readonly rows: readonly Row[]; readonly reached: number | undefined }>;

/** Searches in steps with a turn of the event loop between, until the limit, the oldest row or `budgetMs`. */
export async function boundedSearch<Row extends IdRow>(
  dialect: Dialect,
  { limit, before = NEWEST, budgetMs }: SearchPage,
  searchStep: SearchStep<Row>,
  { first, most }: StepSizes = STEPS,
): Promise<SearchResult<Row>> {
  const end = performance.now() + budgetMs;
  const found: Row[] = [];
  let below = before;
  for (let step = first; ; ) {
    const startedAt = performance.now();
    const { rows, reached } = await searchStep(below, step, limit + 1 - found.length);
    found.push(...rows);
    if (found.length > limit || reached === undefined) return pageOf(found, limit);
    below = reached;
    const now = performance.now();
    if (now >= end) return { rows: found, next: below };
    await nextTurn();
    const isBesideOthers = dialect === "sqlite" && performance.now() - now > OTHERS_MS;
    const wanted = isBesideOthers ? STEP_MS_BESIDE_OTHERS : STEP_MS[dialect];
    step = Math.min(nextStep(step, now - startedAt, wanted), most);
  }
}

/** A page of rows that were read with one more than the limit. That one shows whether there is another page. */
export function pageOf<Row extends IdRow>(rows: readonly Row[], limit: number): SearchResult<Row> {
  const page = rows.slice(0, limit);
  return { rows: page, next: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}

function nextStep(step: number, took: number, wanted: number): number {
  if (took > wanted) return Math.max(1, Math.floor(step / 2));
  return took < wanted / 2 ? step * 2 : step;
}

interface WalkedRows {
  readonly table: TableName;
  readonly columns: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  readonly from?: number;
  /** Of SQLite: the bytes of a row that are compared. A step ends with the row that has too many of them. */
  readonly bytes?: RawBuilder<unknown> | undefined;
}

/** SQLite compares so many in some milliseconds, in however few rows they are. */
const STEP_BYTES = 512 * 1_024;

export function stepThrough<Row>(database: Database, walked: WalkedRows): SearchStep<Row> {
  const { table, columns, where, from = 0, bytes } = walked;
  const name = sql.table(table);
  return async (below, step, limit) => {
    const rows = sql`FROM ${name} WHERE id < ${below} AND id >= ${from} ORDER BY id DESC LIMIT`;
    const last =
      bytes === undefined
        ? sql`SELECT id ${rows} 1 OFFSET ${step - 1}`
        : sql`SELECT max(id) AS id FROM (
            SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS bytes
            FROM (SELECT id, ${bytes} AS bytes ${rows} ${step})
            WINDOW newest AS (ORDER BY id DESC ROWS UNBOUNDED PRECEDING)
          ) WHERE place = ${step} OR bytes > ${STEP_BYTES}`;
    const reached = (await select<{ id: number | null }>(database, last))[0]?.id ?? undefined;
    const matching = sql`SELECT ${columns} FROM ${name}
      WHERE id < ${below} AND id >= ${reached ?? from} AND ${where} ORDER BY id DESC LIMIT ${limit}`;
    return { rows: await select<Row>(database, matching), reached };
  };
}

/** Ids from the first one up to but not including the second. */
export interface IdRange {
  readonly from: number;
  readonly below: number;
}

/** Ids that follow the time in a column. `firstSince` finds the first of this time (ISO 8601) or a later one. */
export async function idsByTime(database: Database, table: TableName, column: string, before = NEWEST) {
  const [name, at] = [sql.table(table), sql.ref(`c.${column}`)];
  const ends = sql`SELECT
    (SELECT id FROM ${name} WHERE id > 0 ORDER BY id LIMIT 1) AS low,
    (SELECT id FROM ${name} WHERE id > 0 ORDER BY id DESC LIMIT 1) AS high`;
  const [range] = await select<{ low: number | null; high: number | null }>(database, ends);
  const from = range?.low ?? 0;
  const below = Math.min(before, (range?.high ?? 0) + 1);
  const probe = (points: readonly number[]) => {
    const first = (column: RawBuilder<unknown>) =>
      sql`(SELECT ${column} FROM ${name} AS c WHERE c.id >= point.id ORDER BY c.id LIMIT 1)`;
    const found = sql`SELECT point.id AS point, ${first(sql`c.id`)} AS id, ${first(at)} AS time
      FROM ${idList(database.dialect, points)} AS point`;
    return select<Probe>(database, found);
  };
  return { from, below, firstSince: (time: string) => bisect({ from, below }, time, probe) };
}

/** The first row at or above a point. */
interface Probe {
  readonly point: number;
  readonly id: number | null;
  readonly time: string | null;
}

/** How many points one statement of a bisection reads. */
const POINTS = 32;

/** Five halvings a statement. There is no index by time, which every callback would have to write (decision 0017). */
async function bisect(range: IdRange, time: string, probe: (points: readonly number[]) => Promise<readonly Probe[]>) {
  let [low, high] = [range.from, range.below];
  while (low < high) {
    const end = high;
    const share = (high - low) / POINTS;
    const points = new Set(Array.from({ length: POINTS }, (_, index) => Math.floor(low + index * share)));
    const rows = await probe([...points]);
    for (const row of rows.toSorted((a, b) => a.point - b.point)) {
      const isBefore = row.id !== null && row.time !== null && row.id < end && row.time < time;
      if (!isBefore) {
        high = row.point;
        break;
      }
      low = row.id + 1;
    }
  }
  return low;
}
