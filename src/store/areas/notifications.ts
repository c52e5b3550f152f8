import { type RawBuilder, sql } from "kysely";
import type { EventKey, JsonObject } from "../../domain/index.ts";
import { equal, type IdRow, idList, idsOf } from "../database.ts";
import type { StoredEventReplay } from "./event-replays.ts";
import {
  boundedSearch,
  idsByTime,
  NEWEST,
  pageOf,
  SearchedArea,
  type SearchPage,
  type SearchResult,
  type SearchStep,
  stepThrough,
} from "./paging.ts";
import type { StoredRecord } from "./records.ts";
import { longestRunMs } from "./settings.ts";

/** The place of an alert among the notifications of its event; no handler's notification has it. */
export const ALERT_POSITION = 0;

/** A message that a handler sends, committed with its event. */
export interface StoredNotification {
  readonly id: number;
  /** The same at every attempt and on every channel: receivers detect duplicates by it. */
  readonly idempotencyKey: string;
  readonly source: string;
  readonly eventId: string;
  readonly topic: string;
  readonly payload: JsonObject;
  readonly createdAt: string;
}

/** One notification to one channel. */
export interface NotificationDelivery {
  readonly id: number;
  readonly channel: string;
  readonly state: "waiting" | "delivered" | "dead";
  readonly attempts: number;
  readonly error: string | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
}

export interface ListedNotification extends StoredNotification {
  readonly deliveries: readonly Omit<NotificationDelivery, "id">[];
}

/** Notifications with a delivery in this state. One without deliveries yet counts as waiting. */
export interface NotificationFilter {
  readonly state?: NotificationDelivery["state"] | undefined;
}

/** Those of a replay count from one again, and have the number of the replay behind it. */
export const NOTIFICATION_COLUMNS = sql`id, source || '/' || event_id || '/' || CAST(position AS text) ||
  CASE WHEN event_replay_id IS NULL THEN '' ELSE '~' || CAST(event_replay_id AS text) END AS idempotency_key,
  source, event_id, topic, payload, created_at`;
export type NotificationRow = Omit<StoredNotification, "payload"> & { readonly payload: string };

export function toNotification(row: NotificationRow): StoredNotification {
  return { ...row, payload: JSON.parse(row.payload) };
}

export const DELIVERY_COLUMNS = sql`id, notification_id, channel, state, attempts, error, next_attempt_at, delivered_at`;
export type DeliveryRow = NotificationDelivery & { readonly notificationId: number };

/** The condition of the index, word for word: SQLite does not derive it from another one. */
export const UNDELIVERED = sql`state IN ('waiting', 'dead')`;

/**
 * Ids follow the time but for this and the longest run. A handler may send long before its transaction writes the row. SQLite
 * runs one transaction after the other, so that the longest run adds nothing.
 */
const EARLIER_MS = 15_000;
const LATER_MS = 5_000;
/** A longer stretch means that the clock was set: the search reads no further, rather than block others. */
const MAX_ROWS_READ = { sqlite: 50_000, postgres: 1_000_000 } as const;

/** The runs of an event that succeeded: each ended when the next one replaced its result. */
function runsOf(
  { createdAt, processedAt }: Pick<StoredRecord, "createdAt" | "processedAt">,
  replays: readonly Pick<StoredEventReplay, "replayedAt" | "earlierProcessedAt">[],
) {
  const starts = [createdAt, ...replays.map(({ replayedAt }) => replayedAt)];
  const ends = [...replays.map(({ earlierProcessedAt }) => earlierProcessedAt), processedAt ?? createdAt];
  return starts.map((startedAt, index) => ({ startedAt, endedAt: ends[index] ?? startedAt }));
}

/** The lists of notifications with their deliveries; `Outbox` and `NotificationDeliveries` send them. */
export class Notifications extends SearchedArea<NotificationFilter, ListedNotification> {
  /** Newest first, within a time budget: `next` continues a search that has used it up. */
  async search({ state }: NotificationFilter, request: SearchPage): Promise<SearchResult<ListedNotification>> {
    const { rows, next } = await this.idsOf(state, request);
    return { rows: await this.select(sql`id IN ${idList(this.database.dialect, idsOf(rows))} ORDER BY id DESC`), next };
  }

  /** Those of these ids that are still kept. */
  async byIds(ids: readonly number[]): Promise<ReadonlyMap<number, ListedNotification>> {
    const rows = ids.length === 0 ? [] : await this.select(sql`id IN ${idList(this.database.dialect, ids)}`);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * The notifications of a handled event, oldest first. They have no index by event, which every notification would pay for. They
   * were written while their record was, and the ids of that time are a stretch. Those of its replays are in other stretches.
   */
  async ofEvent(
    record: Pick<StoredRecord, keyof EventKey | "createdAt" | "processedAt">,
    limit: number,
    replays: readonly Pick<StoredEventReplay, "replayedAt" | "earlierProcessedAt">[] = [],
  ): Promise<ListedNotification[]> {
    const { dialect } = this.database;
    const earlierMs = EARLIER_MS + (dialect === "postgres" ? await longestRunMs(this.database) : 0);
    const ids = await idsByTime(this.database, "oncehook_notifications", "created_at");
    const firstSince = (time: string, shiftMs: number) =>
      ids.firstSince(new Date(Date.parse(time) + shiftMs).toISOString());
    const found = new Map<number, ListedNotification>();
    for (const { startedAt, endedAt } of runsOf(record, replays)) {
      const from = await firstSince(startedAt, -earlierMs);
      const to = await firstSince(endedAt, LATER_MS);
      const { source, eventId } = record;
      const rows = await this.select(sql`id >= ${from} AND id < ${Math.min(to, from + MAX_ROWS_READ[dialect])}
        AND ${equal({ eventId, source })} ORDER BY id LIMIT ${limit}`);
      for (const row of rows) found.set(row.id, row);
      if (found.size >= limit) break;
    }
    return [...found.values()].slice(0, limit);
  }

  private async idsOf(state: NotificationFilter["state"], request: SearchPage): Promise<SearchResult<IdRow>> {
    if (state === "delivered") return boundedSearch(this.database.dialect, request, this.deliveredStep());
    const { limit, before = NEWEST } = request;
    if (state === undefined) return pageOf(await this.newestIds(sql`id < ${before}`, limit + 1), limit);
    return pageOf(await this.idsWith(state, before, limit + 1), limit);
  }

  /** Nearly all are delivered: a walk from the newest one finds a page soon, without an index of them all. */
  private deliveredStep(): SearchStep<IdRow> {
    const where = sql`(delivered_to IS NOT NULL OR 0 < (SELECT count(*) FROM oncehook_deliveries AS d
      WHERE d.notification_id = oncehook_notifications.id AND d.state = 'delivered'))`;
    return stepThrough(this.database, { table: "oncehook_notifications", columns: sql`id`, where });
  }

  private newestIds(where: RawBuilder<unknown>, limit: number): Promise<readonly IdRow[]> {
    return this.read`SELECT id FROM oncehook_notifications WHERE ${where} ORDER BY id DESC LIMIT ${limit}`;
  }

  private async idsWith(state: "waiting" | "dead", before: number, limit: number): Promise<readonly IdRow[]> {
    const rows = await this.read<IdRow>`SELECT DISTINCT notification_id AS id FROM oncehook_deliveries
      WHERE ${UNDELIVERED} AND state = ${sql.lit(state)} AND notification_id < ${before}
      ORDER BY notification_id DESC LIMIT ${limit}`;
    if (state === "dead") return rows;
    const fresh = await this.newestIds(sql`fanned_out_at IS NULL AND id < ${before}`, limit);
    // A delivery may be of one that had none yet: between the two statements it was fanned out.
    const ids = new Map([...rows, ...fresh].map((row) => [row.id, row]));
    return [...ids.values()].sort((one, other) => other.id - one.id).slice(0, limit);
  }

  private async select(rest: RawBuilder<unknown>): Promise<ListedNotification[]> {
    const found = await this
      .read<NotificationRow>`SELECT ${NOTIFICATION_COLUMNS} FROM oncehook_notifications WHERE ${rest}`;
    if (found.length === 0) return [];
    const ids = idList(this.database.dialect, idsOf(found));
    // One that was delivered at once has no row of its own.
    const deliveries = await this.read<DeliveryRow>`SELECT ${DELIVERY_COLUMNS} FROM oncehook_deliveries
      WHERE notification_id IN ${ids}
      UNION ALL SELECT 0, id, delivered_to, 'delivered', 1, NULL, NULL, fanned_out_at FROM oncehook_notifications
      WHERE id IN ${ids} AND delivered_to IS NOT NULL ORDER BY 1`;
    const byNotification = Map.groupBy(deliveries, ({ notificationId }) => notificationId);
    return found.map((row) => {
      const own = (byNotification.get(row.id) ?? []).map(({ notificationId: _, ...delivery }) => delivery);
      return { ...toNotification(row), deliveries: own };
    });
  }
}
