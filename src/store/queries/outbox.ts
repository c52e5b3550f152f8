import { type Kysely, sql } from "kysely";
import type { DueDelivery, ListedNotification, OutboxStore, StoredDelivery } from "../outbox-store.ts";
import type { Lease, Page } from "../store.ts";
import type { Tables } from "../tables.ts";
import type { Access } from "./access.ts";
import { storableText, toDelivery, toNotification } from "./rows.ts";

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";

/** The outbox of `OutboxStore`, in SQL that both databases speak. */
export function outboxQueries(access: Access): OutboxStore {
  return {
    spread: (channels, now, limit) => spread(access, channels, now, limit),
    leaseDue: (channels, lease, limit) => leaseDue(access, channels, lease, limit),
    delivered: (id, owner, now) => delivered(access, id, owner, now),
    failed: (id, owner, error, next) => failed(access, id, owner, error, next),
    revive: (id, now) => revive(access, id, now),
    list: (page, filter) => list(access, page, filter),
    counts: () => counts(access),
  };
}

/**
 * The deliveries first, then the mark: a process that dies between the two leaves a notification that is spread
 * again, to the deliveries it has.
 */
async function spread(
  { write, read }: Access,
  channels: readonly string[],
  now: Date,
  limit: number,
): Promise<number> {
  const fresh = await read
    .selectFrom(NOTIFICATIONS)
    .select("id")
    .where("spread_at", "is", null)
    .orderBy("id")
    .limit(limit)
    .execute();
  if (fresh.length === 0) return 0;
  const ids = fresh.map(({ id }) => id);
  const at = now.toISOString();
  const rows = ids.flatMap((notification_id) =>
    channels.map((channel) => ({
      notification_id,
      channel,
      state: "waiting" as const,
      attempts: 0,
      next_attempt_at: at,
    })),
  );
  await write
    .insertInto(DELIVERIES)
    .values(rows)
    .onConflict((conflict) => conflict.columns(["notification_id", "channel"]).doNothing())
    .execute();
  await write.updateTable(NOTIFICATIONS).set({ spread_at: at }).where("id", "in", ids).execute();
  return ids.length;
}

async function leaseDue(
  { write, dialect }: Access,
  channels: readonly string[],
  lease: Lease,
  limit: number,
): Promise<DueDelivery[]> {
  const now = lease.now.toISOString();
  const leased = await write
    .with("due", (db) => {
      const due = db
        .selectFrom(DELIVERIES)
        .select("id")
        .where("state", "=", "waiting")
        .where("next_attempt_at", "<=", now)
        .where("channel", "in", channels)
        .where((eb) => eb.or([eb("leased_until", "is", null), eb("leased_until", "<=", now)]))
        .orderBy("next_attempt_at")
        .limit(limit);
      return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(DELIVERIES)
    .set({ lease_owner: lease.owner, leased_until: lease.until.toISOString() })
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .execute();
  if (leased.length === 0) return [];
  const ids = leased.map((row) => row.notification_id);
  const notifications = await write.selectFrom(NOTIFICATIONS).selectAll().where("id", "in", ids).execute();
  const byId = new Map(notifications.map((row) => [String(row.id), toNotification(row)]));
  return leased.flatMap((row) => {
    const notification = byId.get(String(row.notification_id));
    return notification === undefined ? [] : [{ ...toDelivery(row), notification }];
  });
}

/** A notification is delivered when all of its deliveries are. */
async function delivered({ write }: Access, id: number, owner: string, now: Date): Promise<boolean> {
  const done = await write
    .updateTable(DELIVERIES)
    .set((eb) => ({
      state: "delivered",
      attempts: eb("attempts", "+", 1),
      delivered_at: now.toISOString(),
      next_attempt_at: null,
      error: null,
      lease_owner: null,
      leased_until: null,
    }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .returning("notification_id")
    .executeTakeFirst();
  if (done === undefined) return false;
  await settle(write, done.notification_id);
  return true;
}

async function failed(
  { write }: Access,
  id: number,
  owner: string,
  error: string,
  next: Date | null,
): Promise<void> {
  const done = await write
    .updateTable(DELIVERIES)
    .set((eb) => ({
      state: next === null ? "dead" : "waiting",
      attempts: eb("attempts", "+", 1),
      error: storableText(error),
      next_attempt_at: next?.toISOString() ?? null,
      lease_owner: null,
      leased_until: null,
    }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .returning("notification_id")
    .executeTakeFirst();
  if (done !== undefined) await settle(write, done.notification_id);
}

async function revive({ write }: Access, notificationId: number, now: Date): Promise<number> {
  const revived = await write
    .updateTable(DELIVERIES)
    .set({ state: "waiting", attempts: 0, next_attempt_at: now.toISOString() })
    .where("notification_id", "=", notificationId)
    .where("state", "=", "dead")
    .returning("id")
    .execute();
  if (revived.length > 0) await settle(write, notificationId);
  return revived.length;
}

/** The notification's own state says what its deliveries have come to. */
async function settle(write: Kysely<Tables>, id: number | string): Promise<void> {
  await sql`UPDATE oncehook_notifications SET state = CASE
      WHEN EXISTS (SELECT 1 FROM oncehook_deliveries WHERE notification_id = ${id} AND state = 'waiting') THEN 'pending'
      WHEN EXISTS (SELECT 1 FROM oncehook_deliveries WHERE notification_id = ${id} AND state = 'dead') THEN 'dead'
      ELSE 'delivered' END
    WHERE id = ${id}`.execute(write);
}

async function list(
  { read }: Access,
  page: Page,
  filter: { state?: StoredDelivery["state"] },
): Promise<ListedNotification[]> {
  let query = read.selectFrom(NOTIFICATIONS).selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (filter.state !== undefined) {
    const state = filter.state === "waiting" ? "pending" : filter.state;
    query = query.where("state", "=", state);
  }
  const notifications = await query.execute();
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

async function counts({ read }: Access): Promise<Record<"waiting" | "dead", number>> {
  const rows = await read
    .selectFrom(DELIVERIES)
    .select((eb) => ["state", eb.fn.countAll().as("count")])
    .where("state", "in", ["waiting", "dead"])
    .groupBy("state")
    .execute();
  const found = new Map(rows.map((row) => [row.state, Number(row.count)]));
  return { waiting: found.get("waiting") ?? 0, dead: found.get("dead") ?? 0 };
}
