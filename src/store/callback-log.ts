import type { Selectable } from "kysely";
import { sql } from "kysely";
import type { EventKey } from "../domain/index.ts";
import {
  type CallbackFilter,
  type CallbackLogEntry,
  isWithoutEvent,
  logEntryBytes,
  storedDiagnosis,
} from "../domain/index.ts";
import { idIn, searchStepFor } from "./callback-search.ts";
import { idsBetween, noteLateCallbacks } from "./callback-times.ts";
import { isoTime, storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { ForwardPage, SearchPage } from "./paging.ts";
import { boundedSearch, type StepSizes } from "./paging.ts";
import { trimRefused } from "./retention.ts";
import type { CallbackRow } from "./tables.ts";

export interface StoredCallback extends CallbackLogEntry {
  readonly id: number;
}

/** What one search has found. */
export interface CallbackSearchResult {
  /** Newest first. */
  readonly callbacks: readonly StoredCallback[];
  /** Where the search goes on, as `before`; null at its end. */
  readonly next: number | null;
  /** When the oldest callback came that was looked at, in ISO 8601; null at the end. */
  readonly searchedUntil: string | null;
}

/**
 * The callback log as it is read. Ids grow with the time, nearly: a row gets its id when its callback is answered, and on
 * PostgreSQL rows may become visible in another order than that of their ids. Rows that waited for a database that was away get
 * theirs far later, which is noted beside them.
 */
export interface CallbackStore {
  /** A bounded look: what is not found within its time is found when it goes on. */
  search(filter: CallbackFilter, search: SearchPage): Promise<CallbackSearchResult>;
  /** Before rows are stored that came long ago: when the oldest of them came, and now. */
  noteLateCallbacks(oldest: Date, now: Date): Promise<void>;
  get(id: number): Promise<StoredCallback | undefined>;
  /** The rows with an id above it, oldest first. */
  after(id: number, limit: number): Promise<StoredCallback[]>;
  /** Those of these ids that can be seen, oldest first. */
  byIds(ids: readonly number[]): Promise<StoredCallback[]>;
  /**
   * Deletes the oldest rows of strangers, in steps, until all of them take no more than so many bytes.
   * @returns how many rows went
   */
  trimRefused(mostBytes: number): Promise<number>;
  /** The newest ids, newest first. */
  newestIds(limit: number): Promise<number[]>;
}

export function toStoredCallback(row: Selectable<CallbackRow>): StoredCallback {
  return {
    id: Number(row.id),
    requestId: row.request_id,
    receivedAt: isoTime(row.received_at),
    source: row.source,
    eventId: row.event_id,
    eventType: row.event_type,
    method: row.method,
    url: row.url,
    remoteAddress: row.remote_address,
    requestHeaders: row.request_headers,
    requestBody: row.request_body,
    outcome: row.outcome as CallbackLogEntry["outcome"],
    responseStatus: row.response_status,
    responseBody: row.response_body,
    processingMs: row.processing_ms,
    error: row.error,
    ...(row.diagnosis === null ? {} : { diagnosis: storedDiagnosis(row.diagnosis) }),
    ...(row.left_out === null ? {} : { dropped: JSON.parse(row.left_out) }),
  };
}

/** The columns that only rows of strangers have, so that no event's callback names them. */
export const REFUSED_COLUMNS = [
  "diagnosis",
  "refused_bytes",
  "left_out",
] as const satisfies readonly (keyof CallbackRow)[];

/** The values of `STRANGER_COLUMNS`; undefined for a row that belongs to an event. */
export function refusedValues(
  row: CallbackLogEntry,
): readonly [string | null, number, string | null] | undefined {
  if (!isWithoutEvent(row)) return undefined;
  const { diagnosis, dropped } = row;
  return [
    diagnosis === undefined ? null : storableText(JSON.stringify(diagnosis)),
    logEntryBytes(row),
    dropped === undefined ? null : JSON.stringify(dropped),
  ];
}

/** The columns of a log row, in the one order that every insert uses. */
export const CALLBACK_COLUMNS = [
  "request_id",
  "received_at",
  "source",
  "event_id",
  "event_type",
  "method",
  "url",
  "remote_address",
  "request_headers",
  "request_body",
  "outcome",
  "response_status",
  "response_body",
  "processing_ms",
  "error",
  "with_record",
] as const satisfies readonly (keyof CallbackRow)[];

/** The values of a log row in the order of `CALLBACK_COLUMNS`. */
export function callbackValues(row: CallbackLogEntry, withRecord: 0 | 1): (string | number | null)[] {
  return [
    row.requestId,
    row.receivedAt,
    row.source,
    row.eventId === null ? null : storableText(row.eventId),
    row.eventType === null ? null : storableText(row.eventType),
    storableText(row.method),
    storableText(row.url),
    row.remoteAddress,
    storableText(row.requestHeaders),
    storableText(row.requestBody),
    row.outcome,
    row.responseStatus,
    storableText(row.responseBody),
    row.processingMs,
    row.error === null ? null : storableText(row.error),
    withRecord,
  ];
}

const TABLE = "oncehook_callbacks";
/** Bodies may be long, so that a search begins with few rows, and takes more at a time as long as that is quick. */
const STEPS: StepSizes = { first: 64, most: 20_000 };
/** A long body takes SQLite half a millisecond to compare with a text, and after a thousand short ones there may be long ones. */
const STEPS_WITH_BODIES: StepSizes = { first: 4, most: 32 };

/** The requests of `CallbackStore`, in SQL that both databases speak. */
export function callbackQueries(database: Database): CallbackStore {
  return {
    search: (filter, request) => search(database, filter, request),
    noteLateCallbacks: (oldest, now) => noteLateCallbacks(database, oldest, now),
    async get(id) {
      const row = await database.read.selectFrom(TABLE).selectAll().where("id", "=", id).executeTakeFirst();
      return row === undefined ? undefined : toStoredCallback(row);
    },
    async after(id, limit) {
      const query = database.read.selectFrom(TABLE).selectAll().where("id", ">", id);
      return (await query.orderBy("id").limit(limit).execute()).map(toStoredCallback);
    },
    async byIds(ids) {
      if (ids.length === 0) return [];
      const { rows } = await sql<Selectable<CallbackRow>>`SELECT * FROM oncehook_callbacks
        WHERE ${idIn(database.dialect, ids)}`.execute(database.read);
      return rows.map(toStoredCallback).sort((a, b) => a.id - b.id);
    },
    trimRefused: (mostBytes) => trimRefused(database, mostBytes),
    async newestIds(limit) {
      const query = database.read.selectFrom(TABLE).select("id").orderBy("id", "desc").limit(limit);
      return (await query.execute()).map(({ id }) => Number(id));
    },
  };
}

async function search(
  database: Database,
  filter: CallbackFilter,
  { limit, before = Number.MAX_SAFE_INTEGER, budgetMs }: SearchPage,
): Promise<CallbackSearchResult> {
  const begun = performance.now();
  const range = await idsBetween(database, filter, before);
  const steps = database.dialect === "sqlite" && filter.text !== undefined ? STEPS_WITH_BODIES : STEPS;
  const left = { limit, before: range.below, budgetMs: budgetMs - (performance.now() - begun) };
  const { rows, next } = await boundedSearch(
    database.dialect,
    steps,
    left,
    searchStepFor(database, filter, range.from),
  );
  const callbacks = rows.map(toStoredCallback);
  if (next === null) return { callbacks, next, searchedUntil: null };
  const last = callbacks.at(-1);
  const searchedUntil = last?.id === next ? last.receivedAt : await timeOf(database, next);
  return { callbacks, next, searchedUntil };
}

/** Null where the row has been deleted meanwhile. */
async function timeOf({ read }: Database, id: number): Promise<string | null> {
  const row = await read.selectFrom(TABLE).select("received_at").where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : isoTime(row.received_at);
}

/** What the index by event holds, and the one row that the event's record names (see `idsOfEvent` in callback-search.ts). */
export async function callbacksOfEvent(
  { read }: Database,
  { source, eventId }: EventKey,
  { after, limit }: ForwardPage,
): Promise<StoredCallback[]> {
  const others = await sql<Selectable<CallbackRow>>`SELECT * FROM oncehook_callbacks
    WHERE event_id = ${eventId} AND with_record = 0 AND source = ${source} AND id > ${after}
    ORDER BY id LIMIT ${limit}`.execute(read);
  const recorded = await sql<Selectable<CallbackRow>>`SELECT * FROM oncehook_callbacks
    WHERE event_id = ${eventId} AND with_record = 1 AND source = ${source} AND id > ${after} AND id IN
      (SELECT callback_id FROM oncehook_records WHERE event_id = ${eventId} AND source = ${source})`.execute(
    read,
  );
  return [...others.rows, ...recorded.rows]
    .map(toStoredCallback)
    .sort((one, other) => one.id - other.id)
    .slice(0, limit);
}
