import { type RawBuilder, sql } from "kysely";
import type { EventKey, JsonObject } from "../../domain/index.ts";
import { columnName, equal } from "../database.ts";
import {
  boundedSearch,
  NEWEST,
  pageOf,
  SearchedArea,
  type SearchPage,
  type SearchResult,
  stepThrough,
} from "./paging.ts";

/** The record of an event besides its result (SPEC 2.4). */
export interface NewRecord extends EventKey {
  readonly eventType: string;
  readonly version: string;
  /** SHA-256 of the first body, lowercase hex: tells a duplicate from another event under the same id. */
  readonly bodySha256: string;
}

/** A record as others can see it; `processing` exists only inside the transaction that creates it. */
export interface StoredRecord extends NewRecord {
  readonly id: number;
  readonly status: "processing" | "completed";
  readonly result: JsonObject | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly processedAt: string | null;
}

export interface RecordFilter {
  readonly source?: string | undefined;
  readonly eventId?: string | undefined;
}

/** The members of a record, and its columns in the same order. */
export const RECORD_FIELDS = [
  "id",
  "source",
  "eventId",
  "eventType",
  "version",
  "status",
  "bodySha256",
  "result",
  "createdAt",
  "processedAt",
] as const satisfies readonly (keyof StoredRecord)[];
export const RECORD_COLUMNS: readonly string[] = RECORD_FIELDS.map(columnName);
const COLUMNS = sql.raw(RECORD_COLUMNS.join(", "));

/** The log entries of deleted records are found by the index of the others from then on. */
export const indexCallbacks = (deleted: RawBuilder<unknown>) =>
  sql`UPDATE oncehook_callbacks SET with_record = 0 WHERE id IN (SELECT callback_id FROM oncehook_records ${deleted})`;

/** As a database returns it: its result is JSON text. On the hot path of PostgreSQL its id is a text too. */
export interface RecordRow extends Omit<StoredRecord, "result"> {
  readonly result: string | null;
}

export class Records extends SearchedArea<RecordFilter, StoredRecord> {
  /** Newest first, within a time budget. A source has no index, which every record would write (decision 0017). */
  async search({ eventId, source }: RecordFilter, page: SearchPage): Promise<SearchResult<StoredRecord>> {
    if (eventId !== undefined) {
      // One for each source at most, by the index of the key.
      const found = await this.read<RecordRow>`SELECT ${COLUMNS} FROM oncehook_records
        WHERE ${equal({ eventId, source })} AND id < ${page.before ?? NEWEST} ORDER BY id DESC LIMIT ${page.limit + 1}`;
      return pageOf(found.map(toRecord), page.limit);
    }
    const walked = { table: "oncehook_records", columns: COLUMNS, where: equal({ source }) } as const;
    const step = stepThrough<RecordRow>(this.database, walked);
    const { rows, next } = await boundedSearch(this.database.dialect, page, step);
    return { rows: rows.map(toRecord), next };
  }
}

export function toRecord({ id, result, ...row }: RecordRow): StoredRecord {
  return { ...row, id: Number(id), result: result === null ? null : JSON.parse(result) };
}
