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
  list(key: EventKey, limit: number): Promise<readonly StoredEventReplay[]> {
    return this.select(key, {}, limit);
  }

  /** Undefined where that replay has not run the event: its row commits with the new result. */
  async find(key: EventKey, replay: string): Promise<StoredEventReplay | undefined> {
    const [found] = await this.select(key, { replay }, 1);
    return found;
  }

  private async select({ source, eventId }: EventKey, of: { readonly replay?: string }, limit: number) {
    const rows = await this.read<Omit<StoredEventReplay, "earlierResult"> & { readonly earlierResult: string }>`
      SELECT source, event_id, replay, replayed_at, actor, reason, earlier_result, earlier_processed_at
      FROM oncehook_event_replays WHERE ${equal({ eventId, source, ...of })} ORDER BY id LIMIT ${limit}`;
    return rows.map(({ earlierResult, ...row }) => ({
      ...row,
      earlierResult: JSON.parse(earlierResult) as JsonObject,
    }));
  }
}
