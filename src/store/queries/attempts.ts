import type { Selectable } from "kysely";
import type { AttemptStore, StoredAttempt } from "../store.ts";
import type { AttemptRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { isoTime, storableText } from "./rows.ts";

const TABLE = "oncehook_attempts";

/** The history of `AttemptStore`, in SQL that both databases speak. */
export function attemptQueries({ read, write }: Access): AttemptStore {
  return {
    async append({ source, eventId, beganAt, by, outcome, error, tookMs }) {
      await write
        .insertInto(TABLE)
        .values({
          source,
          event_id: eventId,
          began_at: beganAt.toISOString(),
          made_by: by,
          outcome,
          error: error === null ? null : storableText(error),
          took_ms: tookMs,
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
    beganAt: isoTime(row.began_at),
    by: row.made_by,
    outcome: row.outcome as StoredAttempt["outcome"],
    error: row.error,
    tookMs: row.took_ms,
  };
}
