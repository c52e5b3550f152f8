import { type Selectable, sql } from "kysely";

import { longestRunMs } from "./callback-times.ts";
import type { Database } from "./database.ts";
import type { HandledEvent } from "./outbox.ts";
import { type ListedNotification, type NotificationFilter, toDelivery, toNotification } from "./outbox.ts";
import type { Page, SearchPage, SearchResult } from "./paging.ts";
import { boundedSearch, type SearchStep, type StepSizes } from "./paging.ts";
import type { NotificationRow, StoredInteger } from "./tables.ts";

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";
/** The condition of the index, word for word: SQLite does not conclude it from another one. */
const UNDELIVERED = sql<boolean>`state IN ('waiting', 'dead')`;

/** Two thousand take about a millisecond or two; where they lie on the disk, more. */
const STEPS: StepSizes = { first: 256, most: 2_000 };

/** Notifications, newest first, with their deliveries. */
export async function searchNotifications(
  database: Database,
  { state }: NotificationFilter,
  request: SearchPage,
): Promise<SearchResult<ListedNotification>> {
  const found = await idsOf(database, state, request);
  if (found.rows.length === 0) return { rows: [], next: found.next };
  const shown = database.read
    .selectFrom(NOTIFICATIONS)
    .selectAll()
    .where("id", "in", [...found.rows]);
  return {
    rows: await withDeliveries(database, await shown.orderBy("id", "desc").execute()),
    next: found.next,
  };
}

async function idsOf(
  database: Database,
  state: NotificationFilter["state"],
  request: SearchPage,
): Promise<SearchResult<number>> {
  if (state === "delivered") {
    const { rows, next } = await boundedSearch(database.dialect, STEPS, request, deliveredStep(database));
    return { rows: rows.map(({ id }) => Number(id)), next };
  }
  const { limit } = request;
  // One more than asked for tells whether there is another page.
  const page = { ...request, limit: limit + 1 };
  const ids = state === undefined ? await allIds(database, page) : await idsWith(database, page, state);
  const rows = ids.slice(0, limit);
  return { rows, next: ids.length > limit ? (rows.at(-1) ?? null) : null };
}

async function allIds({ read }: Database, { before, limit }: Page): Promise<number[]> {
  let query = read.selectFrom(NOTIFICATIONS).select("id").orderBy("id", "desc").limit(limit);
  if (before !== undefined) query = query.where("id", "<", before);
  return (await query.execute()).map(({ id }) => Number(id));
}

export async function withDeliveries(
  { read }: Database,
  notifications: readonly Selectable<NotificationRow>[],
): Promise<ListedNotification[]> {
  if (notifications.length === 0) return [];
  const ids = notifications.map(({ id }) => id);
  const deliveries = await read
    .selectFrom(DELIVERIES)
    .selectAll()
    .where("notification_id", "in", ids)
    .orderBy("id")
    .execute();
  return notifications.map((row) => ({
    ...toNotification(row),
    deliveries: deliveries.filter((one) => String(one.notification_id) === String(row.id)).map(toDelivery),
  }));
}

/** The ids of a page of notifications that have a delivery in this state. */
async function idsWith(database: Database, page: Page, state: "waiting" | "dead"): Promise<number[]> {
  let query = database.read
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
  const fresh = await idsNotFannedOut(database, page);
  return [...new Set([...ids, ...fresh])].sort((one, other) => other - one).slice(0, page.limit);
}

/**
 * Nearly all are delivered, so that a walk from the newest one finds them sooner than an index of them all; where they are not,
 * it takes its time.
 */
function deliveredStep({ read }: Database): SearchStep<{ id: StoredInteger }> {
  return async (below, step, limit) => {
    const ends = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_notifications
      WHERE id < ${below} ORDER BY id DESC LIMIT 1 OFFSET ${step - 1}`.execute(read);
    const reached = ends.rows[0] === undefined ? undefined : Number(ends.rows[0].id);
    const { rows } = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_notifications AS n
      WHERE id < ${below} AND id >= ${reached ?? 0} AND 0 < (SELECT count(*) FROM oncehook_deliveries AS d
        WHERE d.notification_id = n.id AND d.state = 'delivered')
      ORDER BY id DESC LIMIT ${limit}`.execute(read);
    return { rows, reached };
  };
}

/** Those that have no deliveries yet. */
async function idsNotFannedOut({ read }: Database, page: Page): Promise<number[]> {
  let query = read
    .selectFrom(NOTIFICATIONS)
    .select("id")
    .where("spread_at", "is", null)
    .orderBy("id", "desc")
    .limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  return (await query.execute()).map(({ id }) => Number(id));
}

export async function countUndelivered({ read }: Database): Promise<Record<"waiting" | "dead", number>> {
  const rows = await read
    .selectFrom(DELIVERIES)
    .select((eb) => ["state", eb.fn.countAll().as("count")])
    .where(UNDELIVERED)
    .groupBy("state")
    .execute();
  const found = new Map(rows.map((row) => [row.state, Number(row.count)]));
  return { waiting: found.get("waiting") ?? 0, dead: found.get("dead") ?? 0 };
}

export async function countWaitingByChannel({ read }: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await read
    .selectFrom(DELIVERIES)
    .select((eb) => ["channel", eb.fn.countAll().as("count")])
    .where("state", "=", sql.lit("waiting"))
    .groupBy("channel")
    .orderBy("channel")
    .execute();
  return new Map(rows.map((row) => [row.channel, Number(row.count)]));
}

/**
 * Ids are given in the order of time but for this and the longest run: a handler may ask long before its transaction writes the
 * row. On SQLite one runs after the other, so that the longest run comes between no others.
 */
const EARLIER_MS = 15_000;
const LATER_MS = 5_000;
/** Beyond it the clock was set, and the look is given up rather than the time of others. */
const MOST_LOOKED_AT = { sqlite: 50_000, postgres: 1_000_000 } as const;

/**
 * The notifications of a handled event, oldest first. No index has them by event, since every notification would pay for it:
 * they were written while their record was, and the ids of that time are a stretch.
 */
export async function notificationsOfEvent(
  database: Database,
  { source, eventId, createdAt, processedAt }: HandledEvent,
  limit: number,
): Promise<ListedNotification[]> {
  const { dialect, read } = database;
  const earlierMs = EARLIER_MS + (dialect === "postgres" ? await longestRunMs(database) : 0);
  const from = await firstNotificationSince(read, new Date(Date.parse(createdAt) - earlierMs));
  const to = await firstNotificationSince(read, new Date(Date.parse(processedAt ?? createdAt) + LATER_MS));
  const { rows } = await sql<Selectable<NotificationRow>>`SELECT * FROM oncehook_notifications
    WHERE id >= ${from} AND id < ${Math.min(to, from + MOST_LOOKED_AT[dialect])}
      AND event_id = ${eventId} AND source = ${source}
    ORDER BY id LIMIT ${limit}`.execute(read);
  return withDeliveries(database, rows);
}

/** The lowest id from which on notifications are of this time or a later one, by bisection. */
async function firstNotificationSince(read: Database["read"], time: Date): Promise<number> {
  const { rows: ends } = await sql<{ low: StoredInteger | null; high: StoredInteger | null }>`SELECT
    (SELECT id FROM oncehook_notifications WHERE id > 0 ORDER BY id LIMIT 1) AS low,
    (SELECT id FROM oncehook_notifications WHERE id > 0 ORDER BY id DESC LIMIT 1) AS high`.execute(read);
  let low = Number(ends[0]?.low ?? 0);
  let high = Number(ends[0]?.high ?? -1) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { rows } = await sql<{ id: StoredInteger; is_earlier: number | boolean }>`
      SELECT id, created_at < ${time.toISOString()} AS is_earlier FROM oncehook_notifications
      WHERE id >= ${middle} ORDER BY id LIMIT 1`.execute(read);
    const [row] = rows;
    if (row?.is_earlier) low = Number(row.id) + 1;
    else high = middle;
  }
  return low;
}
