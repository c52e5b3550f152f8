import type { Selectable } from "kysely";
import type { EventKey, FaultCode } from "../domain/index.ts";
import { isoTime, storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
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

/** The history of retries and replays, for display only. */
export interface AttemptStore {
  append(attempt: NewAttempt): Promise<void>;
  /** Those of one event, oldest first. */
  list(key: EventKey, stretch: ForwardPage): Promise<StoredAttempt[]>;
}

const TABLE = "oncehook_attempts";

/** The history of `AttemptStore`, in SQL that both databases speak. */
export function attemptQueries({ read, write }: Database): AttemptStore {
  return {
    async append({ source, eventId, startedAt, trigger, outcome, error, durationMs }) {
      await write
        .insertInto(TABLE)
        .values({
          source,
          event_id: eventId,
          began_at: startedAt.toISOString(),
          made_by: trigger,
          outcome,
          error: error === null ? null : storableText(error),
          took_ms: durationMs,
        })
        .execute();
    },
    async list({ source, eventId }, { after, limit }) {
      const rows = await read
        .selectFrom(TABLE)
        .selectAll()
        .where("event_id", "=", eventId)
        .where("source", "=", source)
        .where("id", ">", after)
        .orderBy("id")
        .limit(limit)
        .execute();
      return rows.map(toAttempt);
    },
  };
}

function toAttempt(row: Selectable<AttemptRow>): StoredAttempt {
  return {
    id: Number(row.id),
    source: row.source,
    eventId: row.event_id,
    startedAt: isoTime(row.began_at),
    trigger: row.made_by,
    outcome: row.outcome as StoredAttempt["outcome"],
    error: row.error,
    durationMs: row.took_ms,
  };
}
