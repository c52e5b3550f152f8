import { sql } from "kysely";
import type { EventKey, JsonObject } from "../domain/index.ts";
import { Area, equal } from "./database.ts";
import { NEWEST, type Page } from "./paging.ts";

/** What the record of an event keeps besides its result (SPEC 2.4). */
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

/** As both databases return it, on the hot path as well. */
export interface RecordRow {
  readonly id: number | string;
  readonly source: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly version: string;
  readonly status: StoredRecord["status"];
  readonly body_sha256: string;
  readonly result: string | null;
  readonly created_at: string;
  readonly processed_at: string | null;
}

export class Records extends Area {
  /** Newest first. */
  async list(
    { limit, before = NEWEST }: Page,
    { eventId }: { readonly eventId?: string },
  ): Promise<StoredRecord[]> {
    const newest = sql<RecordRow>`SELECT * FROM oncehook_records
      WHERE id < ${before} AND ${equal({ eventId })} ORDER BY id DESC LIMIT ${limit}`;
    return (await newest.execute(this.database.read)).rows.map(toRecord);
  }
}

export function toRecord(row: RecordRow): StoredRecord {
  return {
    id: Number(row.id),
    source: row.source,
    eventId: row.event_id,
    eventType: row.event_type,
    version: row.version,
    status: row.status,
    bodySha256: row.body_sha256,
    result: row.result === null ? null : JSON.parse(row.result),
    createdAt: row.created_at,
    processedAt: row.processed_at,
  };
}
