import type { Selectable } from "kysely";
import type { EventKey, FaultCode } from "../domain/index.ts";
import { isoTime, storableText } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import type { ForwardPage } from "./paging.ts";
import type { AttemptRow } from "./tables.ts";

/** What started an attempt; the first attempt is in the callback log instead. */
export type AttemptTrigger = "retry" | "replay" | "bulk";

/** One run of a handler beside the callbacks, as it ended. */
export interface NewAttempt extends EventKey {
  readonly startedAt: Date;
  readonly trigger: AttemptTrigger;
  readonly outcome: "success" | FaultCode;
  /** Message and stack, masked; null for a success. */
  readonly error: string | null;
  readonly durationMs: number;
}

export interface StoredAttempt extends Omit<NewAttempt, "startedAt"> {
  readonly id: number;
  /** ISO 8601. */
  readonly startedAt: string;
}

const TABLE = "oncehook_attempts";

/** The history of retries and replays, for display only. */
export class Attempts extends Area {
  async append(attempt: NewAttempt): Promise<void> {
    await insertAttempt(this.database.write, attempt);
  }

  /** The attempts of one event, oldest first. */
  async list({ source, eventId }: EventKey, { after, limit }: ForwardPage): Promise<StoredAttempt[]> {
    const rows = await this.database.read
      .selectFrom(TABLE)
      .selectAll()
      .where("event_id", "=", eventId)
      .where("source", "=", source)
      .where("id", ">", after)
      .orderBy("id")
      .limit(limit)
      .execute();
    return rows.map(toAttempt);
  }
}

/** For a transaction that stores more. */
export async function insertAttempt(
  query: Database["write"],
  { source, eventId, startedAt, trigger, outcome, error, durationMs }: NewAttempt,
): Promise<void> {
  await query
    .insertInto(TABLE)
    .values({
      source,
      event_id: eventId,
      started_at: startedAt.toISOString(),
      triggered_by: trigger,
      outcome,
      error: error === null ? null : storableText(error),
      duration_ms: durationMs,
    })
    .execute();
}

function toAttempt(row: Selectable<AttemptRow>): StoredAttempt {
  return {
    id: Number(row.id),
    source: row.source,
    eventId: row.event_id,
    startedAt: isoTime(row.started_at),
    trigger: row.triggered_by,
    outcome: row.outcome as StoredAttempt["outcome"],
    error: row.error,
    durationMs: row.duration_ms,
  };
}
