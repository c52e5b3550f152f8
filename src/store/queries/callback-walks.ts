import { type RawBuilder, type Selectable, sql } from "kysely";
import { type CallbackFilter, rareOutcomes } from "../../domain/index.ts";
import type { CallbackRow, StoredInteger } from "../tables.ts";
import type { Dialect } from "../transaction.ts";
import type { Access } from "./access.ts";
import type { Look } from "./bounded-walk.ts";
import { conditionsOf } from "./callback-conditions.ts";

type Row = Selectable<CallbackRow>;

/** The next ids below, newest first, of rows that an index holds together. */
type Ids = (below: number, step: number) => Promise<readonly number[]>;

/** By the index that holds the fewest rows: of one event, of outcomes that are rare, or the table's own. */
export function walkFor(access: Access, filter: CallbackFilter, from: number): Look<Row> {
  const conditions = conditionsOf(access.dialect, filter);
  const { eventId } = filter;
  if (eventId !== undefined) return alongIds(access, conditions, idsOfEvent(access, eventId, from));
  const outcomes = rareOutcomes(filter);
  if (outcomes !== undefined) return alongIds(access, conditions, idsOfOutcomes(access, outcomes, from));
  return alongAll(access, conditions, from);
}

/** A condition that the primary key answers. */
export function amongIds(dialect: Dialect, ids: readonly number[]): RawBuilder<unknown> {
  return dialect === "postgres"
    ? sql`id = ANY(CAST(${ids} AS bigint[]))`
    : sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
}

function alongAll({ read }: Access, conditions: RawBuilder<unknown>, from: number): Look<Row> {
  return async (below, step, limit) => {
    const last = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_callbacks
      WHERE id < ${below} AND id >= ${from} ORDER BY id DESC LIMIT 1 OFFSET ${step - 1}`.execute(read);
    const reached = last.rows[0] === undefined ? undefined : Number(last.rows[0].id);
    const { rows } = await sql<Row>`SELECT * FROM oncehook_callbacks
      WHERE id < ${below} AND id >= ${reached ?? from} AND ${conditions}
      ORDER BY id DESC LIMIT ${limit}`.execute(read);
    return { rows, reached };
  };
}

function alongIds({ dialect, read }: Access, conditions: RawBuilder<unknown>, idsBelow: Ids): Look<Row> {
  return async (below, step, limit) => {
    const ids = await idsBelow(below, step);
    if (ids.length === 0) return { rows: [], reached: undefined };
    const { rows } = await sql<Row>`SELECT * FROM oncehook_callbacks
      WHERE ${amongIds(dialect, ids)} AND ${conditions} ORDER BY id DESC LIMIT ${limit}`.execute(read);
    return { rows, reached: ids.length < step ? undefined : ids.at(-1) };
  };
}

/**
 * The rows that the index by event holds, and the one that the event's record names: that may be gone, and on SQLite another
 * event's row may have got its id, which the conditions tell.
 */
function idsOfEvent({ read }: Access, eventId: string, from: number): Ids {
  return async (below, step) => {
    const logged = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_callbacks
      WHERE event_id = ${eventId} AND with_record = 0 AND id < ${below} AND id >= ${from}
      ORDER BY id DESC LIMIT ${step}`.execute(read);
    const named = await sql<{ id: StoredInteger }>`SELECT callback_id AS id FROM oncehook_records
      WHERE event_id = ${eventId} AND callback_id < ${below} AND callback_id >= ${from}`.execute(read);
    return newest([...logged.rows, ...named.rows], step);
  };
}

/** Each outcome's own part of the index in turn; the words of its condition are repeated, or it would not be used. */
function idsOfOutcomes({ dialect, read }: Access, outcomes: readonly string[], from: number): Ids {
  const idsOf = (outcome: RawBuilder<unknown>, below: number, step: number) => sql<{
    id: StoredInteger;
  }>`SELECT id
      FROM oncehook_callbacks WHERE outcome = ${outcome} AND outcome <> 'success'
      AND outcome <> 'already_processed' AND id < ${below} AND id >= ${from} ORDER BY id DESC LIMIT ${step}`;
  return async (below, step) => {
    if (dialect === "postgres") {
      const all = sql<{
        id: StoredInteger;
      }>`SELECT lane.id FROM unnest(CAST(${outcomes} AS text[])) AS wanted (outcome)
        CROSS JOIN LATERAL (${idsOf(sql`wanted.outcome`, below, step)}) AS lane`;
      return newest((await all.execute(read)).rows, step);
    }
    const rows: { id: StoredInteger }[] = [];
    for (const outcome of outcomes)
      rows.push(...(await idsOf(sql`${outcome}`, below, step).execute(read)).rows);
    return newest(rows, step);
  };
}

function newest(rows: readonly { readonly id: StoredInteger }[], most: number): readonly number[] {
  return rows
    .map(({ id }) => Number(id))
    .sort((a, b) => b - a)
    .slice(0, most);
}
