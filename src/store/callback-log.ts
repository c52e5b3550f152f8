import { type Selectable, sql } from "kysely";
import type { EventKey } from "../domain/index.ts";
import {
  type CallbackFilter,
  type CallbackLogEntry,
  type Diagnosis,
  isWithoutEvent,
  logEntryBytes,
} from "../domain/index.ts";
import { idIn, idsBetween, searchStepFor } from "./callback-search.ts";
import { isoTime, storableText } from "./column-values.ts";
import { Area } from "./database.ts";
import { boundedSearch, type ForwardPage, type SearchPage, type StepSizes } from "./paging.ts";
import type { CallbackRow } from "./tables.ts";

export interface StoredCallback extends CallbackLogEntry {
  readonly id: number;
}

/** The result of a search. */
export interface CallbackSearchResult {
  /** Newest first. */
  readonly callbacks: readonly StoredCallback[];
  /** Where the search continues, as `before`; null at its end. */
  readonly next: number | null;
  /** When the oldest callback that the search has read was received, in ISO 8601; null at the end. */
  readonly searchedUntil: string | null;
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
    ...(row.diagnosis === null ? {} : { diagnosis: JSON.parse(row.diagnosis) as Diagnosis }),
    ...(row.left_out === null ? {} : { dropped: JSON.parse(row.left_out) }),
  };
}

/** The columns of refused callbacks alone, so that the insert of an event's row names none of them. */
export const REFUSED_COLUMNS = [
  "diagnosis",
  "refused_bytes",
  "left_out",
] as const satisfies readonly (keyof CallbackRow)[];

/** The values of `REFUSED_COLUMNS`; undefined for a row of an event. */
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

/**
 * The callback log for its readers. Ids nearly grow with the time: a row gets its id when its callback is answered, and on
 * PostgreSQL rows may become visible out of order. Rows that waited for an absent database get theirs far later, which
 * `noteLate` records.
 */
export class Callbacks extends Area {
  /** Newest first, within a time budget: `next` continues a search that has used it up. */
  async search(
    filter: CallbackFilter,
    { limit, before = Number.MAX_SAFE_INTEGER, budgetMs }: SearchPage,
  ): Promise<CallbackSearchResult> {
    const { dialect } = this.database;
    const started = performance.now();
    const range = await idsBetween(this.database, filter, before);
    const steps = dialect === "sqlite" && filter.text !== undefined ? STEPS_WITH_BODIES : STEPS;
    const left = { limit, before: range.below, budgetMs: budgetMs - (performance.now() - started) };
    const step = searchStepFor(this.database, filter, range.from);
    const { rows, next } = await boundedSearch(dialect, steps, left, step);
    const callbacks = rows.map(toStoredCallback);
    if (next === null) return { callbacks, next, searchedUntil: null };
    const last = callbacks.at(-1);
    const searchedUntil = last?.id === next ? last.receivedAt : await this.timeOf(next);
    return { callbacks, next, searchedUntil };
  }

  /** Null where the row has been deleted meanwhile. */
  private async timeOf(id: number): Promise<string | null> {
    const query = this.database.read.selectFrom(TABLE).select("received_at").where("id", "=", id);
    const row = await query.executeTakeFirst();
    return row === undefined ? null : isoTime(row.received_at);
  }

  /** Before rows are stored that were received long ago: when the oldest of them was received, and now. */
  async noteLate(oldest: Date, now: Date): Promise<void> {
    const stored_at = now.toISOString();
    await this.database.write
      .insertInto("oncehook_late_callbacks")
      .values({ oldest: oldest.toISOString(), stored_at })
      // The same rows are noted again where they could not be stored: one note is enough.
      .onConflict((conflict) => conflict.column("oldest").doUpdateSet({ stored_at }))
      .execute();
  }

  async get(id: number): Promise<StoredCallback | undefined> {
    const query = this.database.read.selectFrom(TABLE).selectAll().where("id", "=", id);
    const row = await query.executeTakeFirst();
    return row === undefined ? undefined : toStoredCallback(row);
  }

  /** The rows with an id above it, oldest first. */
  async after(id: number, limit: number): Promise<StoredCallback[]> {
    const query = this.database.read.selectFrom(TABLE).selectAll().where("id", ">", id);
    return (await query.orderBy("id").limit(limit).execute()).map(toStoredCallback);
  }

  /** Those of these ids that are visible, oldest first. */
  async byIds(ids: readonly number[]): Promise<StoredCallback[]> {
    if (ids.length === 0) return [];
    const { rows } = await sql<Selectable<CallbackRow>>`SELECT * FROM oncehook_callbacks
      WHERE ${idIn(this.database.dialect, ids)}`.execute(this.database.read);
    return rows.map(toStoredCallback).sort((a, b) => a.id - b.id);
  }

  /** The newest ids, newest first. */
  async newestIds(limit: number): Promise<number[]> {
    const query = this.database.read.selectFrom(TABLE).select("id").orderBy("id", "desc").limit(limit);
    return (await query.execute()).map(({ id }) => Number(id));
  }

  /** The rows of one event, oldest first: those in the index by event, and the one that the record names. */
  async ofEvent({ source, eventId }: EventKey, { after, limit }: ForwardPage): Promise<StoredCallback[]> {
    const { read } = this.database;
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
}
