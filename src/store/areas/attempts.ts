import type { EventKey, FaultCode } from "../../domain/index.ts";
import { Area, insert, type Query, run, storableText } from "../database.ts";
import type { ForwardPage } from "./paging.ts";

/** The cause of an attempt. The first one is in the callback log instead, but for an event that was accepted before it. */
export type AttemptTrigger = "accepted" | "retry" | "replay" | "bulk";

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

/** The history of retries and replays, for display only. */
export class Attempts extends Area {
  append(attempt: NewAttempt): Promise<void> {
    return insertAttempt(this.database.write, attempt);
  }

  list({ source, eventId }: EventKey, { after, limit }: ForwardPage): Promise<readonly StoredAttempt[]> {
    return this.read`SELECT id, source, event_id, started_at, triggered_by AS "trigger", outcome, error, duration_ms
      FROM oncehook_attempts WHERE event_id = ${eventId} AND source = ${source} AND id > ${after}
      ORDER BY id LIMIT ${limit}`;
  }
}

export async function insertAttempt(
  query: Query,
  { source, eventId, startedAt, trigger, outcome, error, durationMs }: NewAttempt,
): Promise<void> {
  const row = { source, eventId, startedAt, triggeredBy: trigger, outcome, durationMs };
  await run(query, insert("oncehook_attempts", { ...row, error: storableText(error) }));
}
