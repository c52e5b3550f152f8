import { type Selectable, sql } from "kysely";
import type { EventKey, JsonObject } from "../domain/index.ts";
import { isoTime } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import {
  boundedSearch,
  firstIdSince,
  idRange,
  type Page,
  type SearchPage,
  type SearchResult,
  type SearchStep,
} from "./paging.ts";
import { longestRunMs } from "./settings.ts";
import type { DeliveryRow, NotificationRow, StoredInteger } from "./tables.ts";

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
export interface StoredDelivery {
  readonly id: number;
  readonly channel: string;
  readonly state: "waiting" | "delivered" | "dead";
  readonly attempts: number;
  readonly error: string | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
}

export interface ListedNotification extends StoredNotification {
  readonly deliveries: readonly Omit<StoredDelivery, "id">[];
}

/** Notifications with a delivery in this state. One without deliveries yet counts as waiting. */
export interface NotificationFilter {
  readonly state?: StoredDelivery["state"];
}

/** An event with a record; the times are those of `StoredRecord`. */
export interface HandledEvent extends EventKey {
  readonly createdAt: string;
  readonly processedAt: string | null;
}

export function toNotification(row: Selectable<NotificationRow>): StoredNotification {
  return {
    id: Number(row.id),
    idempotencyKey: `${row.source}/${row.event_id}/${row.position}`,
    source: row.source,
    eventId: row.event_id,
    topic: row.topic,
    payload: JSON.parse(row.payload),
    createdAt: isoTime(row.created_at),
  };
}

export function toDelivery(row: Selectable<DeliveryRow>): StoredDelivery {
  return {
    id: Number(row.id),
    channel: row.channel,
    state: row.state,
    attempts: row.attempts,
    error: row.error,
    nextAttemptAt: row.next_attempt_at === null ? null : isoTime(row.next_attempt_at),
    deliveredAt: row.delivered_at === null ? null : isoTime(row.delivered_at),
  };
}

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";
/** The condition of the index, word for word: SQLite does not derive it from another one. */
export const UNDELIVERED = sql<boolean>`state IN ('waiting', 'dead')`;

/** Two thousand take about a millisecond or two; on a cold disk, more. */
const STEPS = { first: 256, most: 2_000 };

/**
 * Ids follow the time but for this and the longest run: a handler may send long before its transaction writes the row. SQLite
 * runs one transaction after the other, so that the longest run adds nothing.
 */
const EARLIER_MS = 15_000;
const LATER_MS = 5_000;
/** A longer stretch means that the clock was set: the search reads no further, rather than block others. */
const MAX_ROWS_READ = { sqlite: 50_000, postgres: 1_000_000 } as const;

/** The lists of notifications with their deliveries; `Outbox` and `Deliveries` send them. */
export class Notifications extends Area {
  /** Newest first, within a time budget: `next` continues a search that has used it up. */
  async search(
    { state }: NotificationFilter,
    request: SearchPage,
  ): Promise<SearchResult<ListedNotification>> {
    const found = await this.idsOf(state, request);
    if (found.rows.length === 0) return { rows: [], next: found.next };
    const query = this.database.read
      .selectFrom(NOTIFICATIONS)
      .selectAll()
      .where("id", "in", [...found.rows])
      .orderBy("id", "desc");
    return { rows: await this.withDeliveries(await query.execute()), next: found.next };
  }

  /** A page, however long it takes to find. */
  async list(page: Page, filter: NotificationFilter): Promise<readonly ListedNotification[]> {
    return (await this.search(filter, { ...page, budgetMs: Number.POSITIVE_INFINITY })).rows;
  }

  /**
   * The notifications of a handled event, oldest first. They have no index by event, which every notification would pay for. They
   * were written while their record was, and the ids of that time are a stretch.
   */
  async ofEvent(
    { source, eventId, createdAt, processedAt }: HandledEvent,
    limit: number,
  ): Promise<ListedNotification[]> {
    const { dialect, read } = this.database;
    const earlierMs = EARLIER_MS + (dialect === "postgres" ? await longestRunMs(this.database) : 0);
    const range = await idRange(this.database, NOTIFICATIONS);
    const since = (time: string, shiftMs: number) => {
      const shifted = new Date(Date.parse(time) + shiftMs).toISOString();
      return firstIdSince(this.database, { table: NOTIFICATIONS, column: "created_at", ...range }, shifted);
    };
    const from = await since(createdAt, -earlierMs);
    const to = await since(processedAt ?? createdAt, LATER_MS);
    const { rows } = await sql<Selectable<NotificationRow>>`SELECT * FROM oncehook_notifications
      WHERE id >= ${from} AND id < ${Math.min(to, from + MAX_ROWS_READ[dialect])}
        AND event_id = ${eventId} AND source = ${source}
      ORDER BY id LIMIT ${limit}`.execute(read);
    return this.withDeliveries(rows);
  }

  private async idsOf(
    state: NotificationFilter["state"],
    request: SearchPage,
  ): Promise<SearchResult<number>> {
    const { dialect } = this.database;
    if (state === "delivered") {
      const { rows, next } = await boundedSearch(dialect, STEPS, request, deliveredStep(this.database));
      return { rows: rows.map(({ id }) => Number(id)), next };
    }
    const { limit } = request;
    // One more than asked for tells whether there is another page.
    const page = { ...request, limit: limit + 1 };
    const ids = state === undefined ? await this.newestIds(page) : await this.idsWith(page, state);
    const rows = ids.slice(0, limit);
    return { rows, next: ids.length > limit ? (rows.at(-1) ?? null) : null };
  }

  private async newestIds({ before, limit }: Page, areNew = false): Promise<number[]> {
    let query = this.database.read.selectFrom(NOTIFICATIONS).select("id").orderBy("id", "desc").limit(limit);
    if (areNew) query = query.where("fanned_out_at", "is", null);
    if (before !== undefined) query = query.where("id", "<", before);
    return (await query.execute()).map(({ id }) => Number(id));
  }

  private async idsWith(page: Page, state: "waiting" | "dead"): Promise<number[]> {
    let query = this.database.read
      .selectFrom(DELIVERIES)
      .select("notification_id")
      .distinct()
      .where(UNDELIVERED)
      .where("state", "=", sql.lit(state))
      .orderBy("notification_id", "desc")
      .limit(page.limit);
    if (page.before !== undefined) query = query.where("notification_id", "<", page.before);
    const ids = (await query.execute()).map(({ notification_id }) => Number(notification_id));
    if (state !== "waiting") return ids;
    const fresh = await this.newestIds(page, true);
    return [...new Set([...ids, ...fresh])].sort((one, other) => other - one).slice(0, page.limit);
  }

  private async withDeliveries(
    notifications: readonly Selectable<NotificationRow>[],
  ): Promise<ListedNotification[]> {
    if (notifications.length === 0) return [];
    const ids = notifications.map(({ id }) => id);
    const deliveries = await this.database.read
      .selectFrom(DELIVERIES)
      .selectAll()
      .where("notification_id", "in", ids)
      .orderBy("id")
      .execute();
    return notifications.map((row) => {
      const own = deliveries.filter((one) => String(one.notification_id) === String(row.id)).map(toDelivery);
      return { ...toNotification(row), deliveries: [...deliveredAtOnce(row), ...own] };
    });
  }
}

function deliveredAtOnce({
  fanned_out_at,
  delivered_to,
}: Selectable<NotificationRow>): ListedNotification["deliveries"] {
  if (fanned_out_at === null || delivered_to === null) return [];
  const deliveredAt = isoTime(fanned_out_at);
  return [
    { channel: delivered_to, state: "delivered", attempts: 1, error: null, nextAttemptAt: null, deliveredAt },
  ];
}

/** Nearly all are delivered: a walk from the newest one finds a page soon, without an index of them all. */
function deliveredStep({ read }: Database): SearchStep<{ id: StoredInteger }> {
  return async (below, step, limit) => {
    const ends = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_notifications
      WHERE id < ${below} ORDER BY id DESC LIMIT 1 OFFSET ${step - 1}`.execute(read);
    const reached = ends.rows[0] === undefined ? undefined : Number(ends.rows[0].id);
    const { rows } = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_notifications AS n
      WHERE id < ${below} AND id >= ${reached ?? 0} AND (delivered_to IS NOT NULL OR 0 <
        (SELECT count(*) FROM oncehook_deliveries AS d WHERE d.notification_id = n.id AND d.state = 'delivered'))
      ORDER BY id DESC LIMIT ${limit}`.execute(read);
    return { rows, reached };
  };
}
