import type { EventKey, JsonObject } from "../../domain/index.ts";
import { Area, equal } from "../database.ts";
import type { EventReplay } from "../once.ts";

/** One replay of a handled event that succeeded; the result that it replaced is kept here. */
export interface StoredEventReplay extends EventKey, EventReplay {
  /** ISO 8601, as the other times. */
  readonly replayedAt: string;
  readonly earlierResult: JsonObject;
  readonly earlierProcessedAt: string;
}

/** The replays of handled events. Their rows are written in the transactions of their events (decision 0114). */
export class EventReplays extends Area {
  /** Oldest first. */
  async list({ source, eventId }: EventKey, limit: number): Promise<readonly StoredEventReplay[]> {
    const rows = await this.read<Omit<StoredEventReplay, "earlierResult"> & { readonly earlierResult: string }>`
      SELECT source, event_id, replay, replayed_at, actor, reason, earlier_result, earlier_processed_at
      FROM oncehook_event_replays WHERE ${equal({ eventId, source })} ORDER BY id LIMIT ${limit}`;
    return rows.map(({ earlierResult, ...row }) => ({ ...row, earlierResult: JSON.parse(earlierResult) }));
  }

  /** Whether a replay has run the event: its row commits with the new result. */
  async hasRun({ source, eventId }: EventKey, replay: string): Promise<boolean> {
    const rows = await this.read`SELECT 1 FROM oncehook_event_replays WHERE ${equal({ eventId, source, replay })}`;
    return rows.length > 0;
  }
}
