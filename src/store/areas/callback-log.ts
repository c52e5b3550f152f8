import { type RawBuilder, sql } from "kysely";
import { type CallbackFilter, type EventKey, indexedOutcomes, keyText } from "../../domain/index.ts";
import { type CallbackRow, STORED_COLUMNS, type StoredCallback, toStoredCallback } from "../callback-columns.ts";
import { Area, type Database, equal, type IdRow, idIn, idsOf, insert, rowList, select } from "../database.ts";
import { COMPARED_BYTES, conditionsOf } from "./callback-conditions.ts";
import {
  boundedSearch,
  type ForwardPage,
  idsByTime,
  NEWEST,
  type SearchPage,
  type SearchStep,
  type StepSizes,
  stepThrough,
} from "./paging.ts";
import { longestRunMs } from "./settings.ts";

export interface CallbackSearchPage extends SearchPage {
  /** Rows with a lower id are left out. */
  readonly fromId?: number | undefined;
}

export interface CallbackSearchResult {
  /** Newest first. */
  readonly callbacks: readonly StoredCallback[];
  /** The search continues here, as `before`; null at its end. */
  readonly next: number | null;
  /** When the oldest callback that the search has read was received, in ISO 8601; null at the end. */
  readonly searchedUntil: string | null;
}

/** Bodies may be long: a search begins with few rows, and takes more at a time while that is quick. */
const STEPS: StepSizes = { first: 64, most: 20_000 };
/** By an index: a long body takes SQLite half a millisecond to compare. After many short ones there may be long ones. */
const STEPS_WITH_BODIES: StepSizes = { first: 4, most: 32 };
/** Along the table, where the bytes of a step have a bound. */
const STEPS_BY_BYTES: StepSizes = { first: 64, most: 512 };

/**
 * The callback log for its readers. Ids nearly grow with the time. A row gets its id when its callback is answered; on
 * PostgreSQL rows may become visible out of order. Rows that waited for an absent database get theirs far later, which
 * `noteLate` records.
 */
export class Callbacks extends Area {
  /** Newest first, within a time budget: `next` continues a search that has used it up. */
  async search(
    filter: CallbackFilter,
    { limit, before = NEWEST, budgetMs, fromId = 0 }: CallbackSearchPage,
  ): Promise<CallbackSearchResult> {
    const { dialect } = this.database;
    const started = performance.now();
    const range = await idsBetween(this.database, filter, before);
    const readsBodies = dialect === "sqlite" && (filter.text !== undefined || filter.anywhere !== undefined);
    const steps = !readsBodies ? STEPS : isByIndex(filter) ? STEPS_WITH_BODIES : STEPS_BY_BYTES;
    const left = { limit, before: range.below, budgetMs: budgetMs - (performance.now() - started) };
    const from = Math.max(range.from, fromId);
    const step = searchStepFor(this.database, filter, from, readsBodies ? COMPARED_BYTES : undefined);
    const { rows, next } = await boundedSearch(dialect, left, step, steps);
    const callbacks = rows.map(toStoredCallback);
    if (next === null) return { callbacks, next, searchedUntil: null };
    const last = callbacks.at(-1);
    if (last?.id === next) return { callbacks, next, searchedUntil: last.receivedAt };
    const [row] = await this.read<Pick<CallbackRow, "receivedAt">>`
      SELECT received_at FROM oncehook_callbacks WHERE id = ${next}`;
    // The row may have been deleted meanwhile.
    return { callbacks, next, searchedUntil: row?.receivedAt ?? null };
  }

  /** Before rows are stored that were received long ago: when the oldest of them was received, and now. */
  async noteLate(oldest: Date, now: Date): Promise<void> {
    // The same rows are noted again where they could not be stored: one note is enough.
    await this.write`${insert("oncehook_late_callbacks", { oldest, storedAt: now })}
      ON CONFLICT (oldest) DO UPDATE SET stored_at = excluded.stored_at`;
  }

  async get(id: number): Promise<StoredCallback | undefined> {
    return (await this.select(sql`WHERE id = ${id}`))[0];
  }

  /** The rows with an id above it, oldest first. */
  after(id: number, limit: number): Promise<StoredCallback[]> {
    return this.select(sql`WHERE id > ${id} ORDER BY id LIMIT ${limit}`);
  }

  /** Those of these ids that are visible, oldest first. */
  async byIds(ids: readonly number[]): Promise<StoredCallback[]> {
    if (ids.length === 0) return [];
    return (await this.select(sql`WHERE ${idIn(this.database.dialect, ids)}`)).sort(byId);
  }

  /** Those of these rows that a filter selects, newest first. */
  async among(ids: readonly number[], filter: CallbackFilter): Promise<StoredCallback[]> {
    if (ids.length === 0) return [];
    const { dialect } = this.database;
    const rows = await this.select(sql`WHERE ${idIn(dialect, ids)} AND ${conditionsOf(dialect, filter)}`);
    return rows.sort((one, other) => other.id - one.id);
  }

  async newestIds(limit: number): Promise<number[]> {
    return idsOf(await this.read<IdRow>`SELECT id FROM oncehook_callbacks ORDER BY id DESC LIMIT ${limit}`);
  }

  /** The rows of one event, oldest first: those in the index by event, and the one that the record names. */
  async ofEvent({ source, eventId }: EventKey, { after, limit }: ForwardPage): Promise<StoredCallback[]> {
    const ofEvent = equal({ eventId, source });
    const others = await this.select(
      sql`WHERE ${ofEvent} AND with_record = 0 AND id > ${after} ORDER BY id LIMIT ${limit}`,
    );
    const recorded = await this.select(sql`WHERE ${ofEvent} AND with_record = 1 AND id > ${after}
      AND id IN (SELECT callback_id FROM oncehook_records WHERE ${ofEvent})`);
    return [...others, ...recorded].sort(byId).slice(0, limit);
  }

  /** The state of each row's event: of its failure, or `completed`; null where the store knows neither. */
  async eventStates(rows: readonly StoredCallback[]): Promise<readonly (string | null)[]> {
    const named = rows.flatMap(({ eventId: event_id }) => (event_id === null ? [] : [{ event_id }]));
    if (named.length === 0) return rows.map(() => null);
    const ids = rowList(this.database.dialect, { event_id: "text" }, named);
    const found = await this.read<EventKey & { state: string }>`
      SELECT source, event_id, state FROM oncehook_failures WHERE event_id IN ${ids}
      UNION ALL SELECT source, event_id, status AS state FROM oncehook_records WHERE event_id IN ${ids}`;
    const states = new Map(found.map((one) => [keyText(one), one.state]));
    return rows.map(({ source, eventId }) =>
      source === null || eventId === null ? null : (states.get(keyText({ source, eventId })) ?? null),
    );
  }

  private async select(rest: RawBuilder<unknown>): Promise<StoredCallback[]> {
    const rows = await this.read<CallbackRow>`SELECT ${STORED_COLUMNS} FROM oncehook_callbacks ${rest}`;
    return rows.map(toStoredCallback);
  }
}

const byId = (one: StoredCallback, other: StoredCallback) => one.id - other.id;

/**
 * How much later than others of the same time a row may get its id, besides the longest run. It waits for its group, and the
 * clocks of processes differ. A search reads so much more of the log at each end.
 */
export const SLACK_MS = 120_000;

/** All rows of these times have ids in this range. Others may too: the search still compares the times. */
export async function idsBetween(
  database: Database,
  { from, to }: Pick<CallbackFilter, "from" | "to">,
  before: number,
) {
  if (from === undefined && to === undefined) return { from: 0, below: before };
  const [ids, longestRun] = await Promise.all([
    idsByTime(database, "oncehook_callbacks", "received_at", before),
    longestRunMs(database),
  ]);
  const slack = SLACK_MS + longestRun;
  const [first, end] = await Promise.all([
    from === undefined ? ids.from : lowerTimeBound(database, from, slack).then(ids.firstSince),
    to === undefined ? ids.below : upperTimeBound(database, to, slack).then(ids.firstSince),
  ]);
  return { from: first, below: end };
}

/** No row that came before it has an id above one of `from`. Late ones that were stored after `from` came no earlier. */
async function lowerTimeBound(database: Database, from: string, slack: number): Promise<string> {
  const late = sql`SELECT min(oldest) AS time FROM oncehook_late_callbacks
    WHERE stored_at > ${shifted(from, -slack)}`;
  const oldest = (await select<{ time: string | null }>(database, late))[0]?.time ?? from;
  return shifted(oldest < from ? oldest : from, -slack);
}

/** No row that came since has an id below one from before `to`. Late ones of those were stored by then. */
async function upperTimeBound(database: Database, to: string, slack: number): Promise<string> {
  const late = sql`SELECT max(stored_at) AS time FROM oncehook_late_callbacks WHERE oldest < ${to}`;
  const stored = (await select<{ time: string | null }>(database, late))[0]?.time ?? to;
  return shifted(stored > to ? stored : to, slack);
}

function shifted(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

/** The next ids below, newest first, of rows that an index holds together. */
type IdsBelow = (below: number, step: number) => Promise<readonly number[]>;

/** By the index that holds the fewest rows: of one event, of outcomes that are rare, or the table's own. */
function searchStepFor(
  database: Database,
  filter: CallbackFilter,
  from: number,
  bytes: RawBuilder<unknown> | undefined,
): SearchStep<CallbackRow> {
  const where = conditionsOf(database.dialect, filter);
  const { eventId } = filter;
  if (eventId !== undefined) return stepThroughIds(database, where, idsOfEvent(database, eventId, from));
  const outcomes = indexedOutcomes(filter);
  if (outcomes !== undefined) return stepThroughIds(database, where, idsOfOutcomes(database, outcomes, from));
  return stepThrough(database, { table: "oncehook_callbacks", columns: STORED_COLUMNS, where, from, bytes });
}

function isByIndex(filter: CallbackFilter): boolean {
  return filter.eventId !== undefined || indexedOutcomes(filter) !== undefined;
}

function stepThroughIds(database: Database, where: RawBuilder<unknown>, idsBelow: IdsBelow): SearchStep<CallbackRow> {
  return async (below, step, limit) => {
    const ids = await idsBelow(below, step);
    if (ids.length === 0) return { rows: [], reached: undefined };
    const matching = sql`SELECT ${STORED_COLUMNS} FROM oncehook_callbacks
      WHERE ${idIn(database.dialect, ids)} AND ${where} ORDER BY id DESC LIMIT ${limit}`;
    const rows = await select<CallbackRow>(database, matching);
    return { rows, reached: ids.length < step ? undefined : ids.at(-1) };
  };
}

/**
 * The rows that the index by event holds, and the one that the event's record names. That one may be gone, and on SQLite
 * another event's row may have got its id: the conditions show it.
 */
function idsOfEvent(database: Database, eventId: string, from: number): IdsBelow {
  return async (below, step) => {
    const logged = sql`SELECT id FROM oncehook_callbacks
      WHERE event_id = ${eventId} AND with_record = 0 AND id < ${below} AND id >= ${from}
      ORDER BY id DESC LIMIT ${step}`;
    const named = sql`SELECT callback_id AS id FROM oncehook_records
      WHERE event_id = ${eventId} AND callback_id < ${below} AND callback_id >= ${from}`;
    return newestOf(database, [logged, named], step);
  };
}

/** Each outcome's part of the index in turn. The words of its condition are repeated, or it would not be used. */
function idsOfOutcomes(database: Database, outcomes: readonly string[], from: number): IdsBelow {
  const ofOutcome = (outcome: RawBuilder<unknown>, below: number, step: number) => sql`SELECT id
      FROM oncehook_callbacks WHERE outcome = ${outcome} AND outcome <> 'success'
      AND outcome <> 'already_processed' AND id < ${below} AND id >= ${from} ORDER BY id DESC LIMIT ${step}`;
  return (below, step) => {
    const statements =
      database.dialect === "sqlite"
        ? outcomes.map((outcome) => ofOutcome(sql`${outcome}`, below, step))
        : [
            sql`SELECT matched.id FROM unnest(CAST(${outcomes} AS text[])) AS wanted (outcome)
              CROSS JOIN LATERAL (${ofOutcome(sql`wanted.outcome`, below, step)}) AS matched`,
          ];
    return newestOf(database, statements, step);
  };
}

async function newestOf(database: Database, statements: readonly RawBuilder<unknown>[], most: number) {
  const ids: number[] = [];
  for (const statement of statements) ids.push(...idsOf(await select<IdRow>(database, statement)));
  return ids.sort((one, other) => other - one).slice(0, most);
}
