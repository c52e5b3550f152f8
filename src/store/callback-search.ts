import { type RawBuilder, type Selectable, sql } from "kysely";
import { type CallbackFilter, indexedOutcomes } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { firstIdSince, type IdRange, idRange, type SearchStep } from "./paging.ts";
import { longestRunMs } from "./settings.ts";
import type { CallbackRow } from "./tables.ts";
import type { Dialect } from "./transaction.ts";

/**
 * How much later than others of the same time a row may get its id, besides the longest run: it waits for its group, and the
 * clocks of processes differ. A search reads so much more of the log at each end.
 */
const SLACK_MS = 120_000;

/** All rows of these times have ids in this range; others may too, so that the search still compares the times. */
export async function idsBetween(
  database: Database,
  { from, to }: Pick<CallbackFilter, "from" | "to">,
  before: number,
): Promise<IdRange> {
  if (from === undefined && to === undefined) return { from: 0, below: before };
  const [all, longestRun] = await Promise.all([
    idRange(database, "oncehook_callbacks"),
    longestRunMs(database),
  ]);
  const slack = SLACK_MS + longestRun;
  const below = Math.min(before, all.below);
  const since = (time: string) =>
    firstIdSince(
      database,
      { table: "oncehook_callbacks", column: "received_at", from: all.from, below },
      time,
    );
  const [first, end] = await Promise.all([
    from === undefined ? all.from : lowerTimeBound(database, from, slack).then(since),
    to === undefined ? below : upperTimeBound(database, to, slack).then(since),
  ]);
  return { from: first, below: end };
}

/** No row that came before it has an id above one of `from`: late ones that were stored after `from` came no earlier. */
async function lowerTimeBound({ read }: Database, from: string, slack: number): Promise<string> {
  const { rows } = await sql<{
    oldest: string | null;
  }>`SELECT min(oldest) AS oldest FROM oncehook_late_callbacks
    WHERE stored_at > ${shifted(from, -slack)}`.execute(read);
  const oldest = rows[0]?.oldest ?? from;
  return shifted(oldest < from ? oldest : from, -slack);
}

/** No row that came since has an id below one from before `to`: late ones of those were stored by then. */
async function upperTimeBound({ read }: Database, to: string, slack: number): Promise<string> {
  const { rows } = await sql<{
    stored: string | null;
  }>`SELECT max(stored_at) AS stored FROM oncehook_late_callbacks
    WHERE oldest < ${to}`.execute(read);
  const stored = rows[0]?.stored ?? to;
  return shifted(stored > to ? stored : to, slack);
}

function shifted(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

type Row = Selectable<CallbackRow>;

/** The next ids below, newest first, of rows that an index holds together. */
type IdsBelow = (below: number, step: number) => Promise<readonly number[]>;

/** By the index that holds the fewest rows: of one event, of outcomes that are rare, or the table's own. */
export function searchStepFor(database: Database, filter: CallbackFilter, from: number): SearchStep<Row> {
  const conditions = conditionsOf(database.dialect, filter);
  const { eventId } = filter;
  if (eventId !== undefined) return stepThroughIds(database, conditions, idsOfEvent(database, eventId, from));
  const outcomes = indexedOutcomes(filter);
  if (outcomes !== undefined)
    return stepThroughIds(database, conditions, idsOfOutcomes(database, outcomes, from));
  return stepThroughAll(database, conditions, from);
}

/** A condition that the primary key answers. */
export function idIn(dialect: Dialect, ids: readonly number[]): RawBuilder<unknown> {
  return dialect === "postgres"
    ? sql`id = ANY(CAST(${ids} AS bigint[]))`
    : sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
}

function stepThroughAll({ read }: Database, conditions: RawBuilder<unknown>, from: number): SearchStep<Row> {
  return async (below, step, limit) => {
    const last = await sql<{ id: number }>`SELECT id FROM oncehook_callbacks
      WHERE id < ${below} AND id >= ${from} ORDER BY id DESC LIMIT 1 OFFSET ${step - 1}`.execute(read);
    const reached = last.rows[0]?.id;
    const { rows } = await sql<Row>`SELECT * FROM oncehook_callbacks
      WHERE id < ${below} AND id >= ${reached ?? from} AND ${conditions}
      ORDER BY id DESC LIMIT ${limit}`.execute(read);
    return { rows, reached };
  };
}

function stepThroughIds(
  { dialect, read }: Database,
  conditions: RawBuilder<unknown>,
  idsBelow: IdsBelow,
): SearchStep<Row> {
  return async (below, step, limit) => {
    const ids = await idsBelow(below, step);
    if (ids.length === 0) return { rows: [], reached: undefined };
    const { rows } = await sql<Row>`SELECT * FROM oncehook_callbacks
      WHERE ${idIn(dialect, ids)} AND ${conditions} ORDER BY id DESC LIMIT ${limit}`.execute(read);
    return { rows, reached: ids.length < step ? undefined : ids.at(-1) };
  };
}

/**
 * The rows that the index by event holds, and the one that the event's record names: that may be gone, and on SQLite another
 * event's row may have got its id, which the conditions tell.
 */
function idsOfEvent({ read }: Database, eventId: string, from: number): IdsBelow {
  return async (below, step) => {
    const logged = await sql<{ id: number }>`SELECT id FROM oncehook_callbacks
      WHERE event_id = ${eventId} AND with_record = 0 AND id < ${below} AND id >= ${from}
      ORDER BY id DESC LIMIT ${step}`.execute(read);
    const named = await sql<{ id: number }>`SELECT callback_id AS id FROM oncehook_records
      WHERE event_id = ${eventId} AND callback_id < ${below} AND callback_id >= ${from}`.execute(read);
    return newest([...logged.rows, ...named.rows], step);
  };
}

/** Each outcome's own part of the index in turn; the words of its condition are repeated, or it would not be used. */
function idsOfOutcomes({ dialect, read }: Database, outcomes: readonly string[], from: number): IdsBelow {
  const idsOf = (outcome: RawBuilder<unknown>, below: number, step: number) => sql<{ id: number }>`SELECT id
      FROM oncehook_callbacks WHERE outcome = ${outcome} AND outcome <> 'success'
      AND outcome <> 'already_processed' AND id < ${below} AND id >= ${from} ORDER BY id DESC LIMIT ${step}`;
  return async (below, step) => {
    if (dialect === "postgres") {
      const all = sql<{
        id: number;
      }>`SELECT matched.id FROM unnest(CAST(${outcomes} AS text[])) AS wanted (outcome)
        CROSS JOIN LATERAL (${idsOf(sql`wanted.outcome`, below, step)}) AS matched`;
      return newest((await all.execute(read)).rows, step);
    }
    const rows: { id: number }[] = [];
    for (const outcome of outcomes)
      rows.push(...(await idsOf(sql`${outcome}`, below, step).execute(read)).rows);
    return newest(rows, step);
  };
}

function newest(rows: readonly { readonly id: number }[], most: number): readonly number[] {
  return rows
    .map(({ id }) => id)
    .sort((a, b) => b - a)
    .slice(0, most);
}

const ALWAYS = { from: "0001-01-01T00:00:00.000Z", to: "9999-12-31T23:59:59.999Z" };
const ANY_STATUS = [0, 999] as const;

/**
 * A filter as a condition. Its text is the same for every filter, so that it is one statement however many there are: what is
 * left out is NULL. None of it decides the plan; what does stands beside it.
 */
function conditionsOf(dialect: Dialect, filter: CallbackFilter): RawBuilder<unknown> {
  const { from = ALWAYS.from, to = ALWAYS.to, statuses = ANY_STATUS } = filter;
  // What is dear, and lies behind long values in the row, comes last.
  return sql`received_at >= ${from} AND received_at < ${to}
    AND ${equal("source", filter.source)} AND ${equal("event_id", filter.eventId)}
    AND ${equal("event_type", filter.eventType)} AND ${equal("remote_address", filter.remoteAddress)}
    AND response_status >= ${statuses[0]} AND response_status <= ${statuses[1]}
    AND ${oneOf(dialect, filter.outcomes)} AND ${contains(dialect, filter.text)}`;
}

function equal(column: string, given: string | null = null): RawBuilder<unknown> {
  return sql`(CAST(${given} AS text) IS NULL OR ${sql.ref(column)} = ${given})`;
}

function oneOf(dialect: Dialect, outcomes: readonly string[] | undefined): RawBuilder<unknown> {
  if (dialect === "postgres")
    return sql`(CAST(${outcomes} AS text[]) IS NULL OR outcome = ANY(CAST(${outcomes} AS text[])))`;
  const given = outcomes && JSON.stringify(outcomes);
  return sql`(CAST(${given} AS text) IS NULL OR outcome IN (SELECT value FROM json_each(${given})))`;
}

/**
 * With the collation "C" PostgreSQL folds the letters A to Z alone, as SQLite's `lower` always does. SQLite blocks the event loop
 * while it compares, and its `LIKE` restarts the comparison at each letter, which a text of one letter many times and
 * bodies of the same make hundreds of times slower than `instr`.
 */
function contains(dialect: Dialect, text: string | undefined): RawBuilder<unknown> {
  if (dialect === "sqlite")
    return sql`(CAST(${text} AS text) IS NULL OR instr(lower(request_body), lower(${text})) > 0)`;
  const pattern = text === undefined ? null : `%${text.replace(/[\\%_]/g, "\\$&")}%`;
  return sql`(CAST(${pattern} AS text) IS NULL OR request_body COLLATE "C" ILIKE ${pattern} ESCAPE '\\')`;
}
