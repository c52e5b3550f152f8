import { type Selectable, sql } from "kysely";
import type { ListedNotification, NotificationFilter } from "../outbox-store.ts";
import type { Page } from "../store.ts";
import type { NotificationRow, StoredInteger } from "../tables.ts";
import type { Access } from "./access.ts";
import { toDelivery, toNotification } from "./rows.ts";

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";
/** The condition of the index, word for word: SQLite does not conclude it from another one. */
const NOT_DONE = sql<boolean>`state IN ('waiting', 'dead')`;

/** Notifications, newest first, with their deliveries. */
export async function list(
  access: Access,
  page: Page,
  filter: NotificationFilter,
): Promise<ListedNotification[]> {
  const { read } = access;
  let query = read.selectFrom(NOTIFICATIONS).selectAll().orderBy("id", "desc").limit(page.limit);
  if (filter.state === undefined) {
    if (page.before !== undefined) query = query.where("id", "<", page.before);
  } else {
    const shown = await idsWith(access, page, filter.state);
    if (shown.length === 0) return [];
    query = query.where("id", "in", shown);
  }
  return withDeliveries(access, await query.execute());
}

export async function withDeliveries(
  { read }: Access,
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
async function idsWith(
  access: Access,
  page: Page,
  state: NonNullable<NotificationFilter["state"]>,
): Promise<number[]> {
  if (state === "delivered") return deliveredIds(access, page);
  let query = access.read
    .selectFrom(DELIVERIES)
    .select("notification_id")
    .distinct()
    .where(NOT_DONE)
    .where("state", "=", sql.lit(state))
    .orderBy("notification_id", "desc")
    .limit(page.limit);
  if (page.before !== undefined) query = query.where("notification_id", "<", page.before);
  const ids = (await query.execute()).map(({ notification_id }) => Number(notification_id));
  if (state !== "waiting") return ids;
  const fresh = await freshIds(access, page);
  return [...new Set([...ids, ...fresh])].sort((one, other) => other - one).slice(0, page.limit);
}

/** Nearly all are delivered, so that a walk from the newest one finds them sooner than an index of them all. */
async function deliveredIds({ read }: Access, { before, limit }: Page): Promise<number[]> {
  const { rows } = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_notifications AS n
    WHERE id < ${before ?? Number.MAX_SAFE_INTEGER} AND 0 < (SELECT count(*) FROM oncehook_deliveries AS d
      WHERE d.notification_id = n.id AND d.state = 'delivered')
    ORDER BY id DESC LIMIT ${limit}`.execute(read);
  return rows.map(({ id }) => Number(id));
}

/** Those that have no deliveries yet. */
async function freshIds({ read }: Access, page: Page): Promise<number[]> {
  let query = read
    .selectFrom(NOTIFICATIONS)
    .select("id")
    .where("spread_at", "is", null)
    .orderBy("id", "desc")
    .limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  return (await query.execute()).map(({ id }) => Number(id));
}

export async function counts({ read }: Access): Promise<Record<"waiting" | "dead", number>> {
  const rows = await read
    .selectFrom(DELIVERIES)
    .select((eb) => ["state", eb.fn.countAll().as("count")])
    .where(NOT_DONE)
    .groupBy("state")
    .execute();
  const found = new Map(rows.map((row) => [row.state, Number(row.count)]));
  return { waiting: found.get("waiting") ?? 0, dead: found.get("dead") ?? 0 };
}

export async function waitingByChannel({ read }: Access): Promise<ReadonlyMap<string, number>> {
  const rows = await read
    .selectFrom(DELIVERIES)
    .select((eb) => ["channel", eb.fn.countAll().as("count")])
    .where("state", "=", sql.lit("waiting"))
    .groupBy("channel")
    .orderBy("channel")
    .execute();
  return new Map(rows.map((row) => [row.channel, Number(row.count)]));
}
