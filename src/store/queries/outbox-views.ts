import { type Selectable, sql } from "kysely";
import type { ListedNotification, NotificationFilter } from "../outbox-store.ts";
import type { Found, Page, Search } from "../page.ts";
import type { NotificationRow, StoredInteger } from "../tables.ts";
import type { Access } from "./access.ts";
import { boundedWalk, type Look, type Steps } from "./bounded-walk.ts";
import { toDelivery, toNotification } from "./rows.ts";

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";
/** The condition of the index, word for word: SQLite does not conclude it from another one. */
const NOT_DONE = sql<boolean>`state IN ('waiting', 'dead')`;

/** Two thousand take about a millisecond or two; where they lie on the disk, more. */
const STEPS: Steps = { first: 256, most: 2_000 };

/** Notifications, newest first, with their deliveries. */
export async function search(
  access: Access,
  { state }: NotificationFilter,
  request: Search,
): Promise<Found<ListedNotification>> {
  const found = await idsOf(access, state, request);
  if (found.rows.length === 0) return { rows: [], next: found.next };
  const shown = access.read
    .selectFrom(NOTIFICATIONS)
    .selectAll()
    .where("id", "in", [...found.rows]);
  return {
    rows: await withDeliveries(access, await shown.orderBy("id", "desc").execute()),
    next: found.next,
  };
}

async function idsOf(
  access: Access,
  state: NotificationFilter["state"],
  request: Search,
): Promise<Found<number>> {
  if (state === "delivered") {
    const { rows, next } = await boundedWalk(access.dialect, STEPS, request, lookForDelivered(access));
    return { rows: rows.map(({ id }) => Number(id)), next };
  }
  const { limit } = request;
  // One more than asked for tells whether there is another page.
  const page = { ...request, limit: limit + 1 };
  const ids = state === undefined ? await allIds(access, page) : await idsWith(access, page, state);
  const rows = ids.slice(0, limit);
  return { rows, next: ids.length > limit ? (rows.at(-1) ?? null) : null };
}

async function allIds({ read }: Access, { before, limit }: Page): Promise<number[]> {
  let query = read.selectFrom(NOTIFICATIONS).select("id").orderBy("id", "desc").limit(limit);
  if (before !== undefined) query = query.where("id", "<", before);
  return (await query.execute()).map(({ id }) => Number(id));
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
async function idsWith(access: Access, page: Page, state: "waiting" | "dead"): Promise<number[]> {
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

/**
 * Nearly all are delivered, so that a walk from the newest one finds them sooner than an index of them all; where they are not,
 * it takes its time.
 */
function lookForDelivered({ read }: Access): Look<{ id: StoredInteger }> {
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
