import type { DueDelivery, OutboxStore } from "../outbox-store.ts";
import type { Lease } from "../store.ts";
import type { Access } from "./access.ts";
import { discard, revive } from "./outbox-by-hand.ts";
import { counts, list, waitingByChannel } from "./outbox-views.ts";
import { storableText, toDelivery, toNotification } from "./rows.ts";
import { unleased } from "./unleased.ts";

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";
/** Each has five values, and a statement takes some 32,000 of them on SQLite, 65,000 on PostgreSQL. */
const MOST_ROWS_AT_ONCE = 1_000;

/** The outbox of `OutboxStore`, in SQL that both databases speak. */
export function outboxQueries(access: Access): OutboxStore {
  return {
    spread: (channels, now, limit) => spread(access, channels, now, limit),
    leaseDue: (channels, lease, limit) => leaseDue(access, channels, lease, limit),
    delivered: (id, owner, now) => delivered(access, id, owner, now),
    failed: (id, owner, error, next) => failed(access, id, owner, error, next),
    release: (id, owner) => release(access, id, owner),
    giveUp: (id, owner, error) => giveUp(access, id, owner, error),
    revive: (id, channels, now) => revive(access, id, channels, now),
    discard: (id, channel, now) => discard(access, id, channel, now),
    list: (page, filter) => list(access, page, filter),
    counts: () => counts(access),
    waitingByChannel: () => waitingByChannel(access),
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
  const at = now.toISOString();
  const atOnce = Math.max(1, Math.floor(MOST_ROWS_AT_ONCE / channels.length));
  for (let start = 0; start < fresh.length; start += atOnce) {
    const ids = fresh.slice(start, start + atOnce).map(({ id }) => id);
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
  }
  return fresh.length;
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
        .where(unleased(lease.now))
        .orderBy("next_attempt_at")
        .limit(limit);
      return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(DELIVERIES)
    .set((eb) => ({
      lease_owner: lease.owner,
      leased_until: lease.until.toISOString(),
      attempts: eb("attempts", "+", 1),
    }))
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

const NO_LEASE = { lease_owner: null, leased_until: null };

async function delivered({ write }: Access, id: number, owner: string, now: Date): Promise<boolean> {
  const done = await write
    .updateTable(DELIVERIES)
    .set({
      state: "delivered",
      delivered_at: now.toISOString(),
      next_attempt_at: null,
      error: null,
      ...NO_LEASE,
    })
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .executeTakeFirst();
  return Number(done.numUpdatedRows) > 0;
}

async function failed(
  { write }: Access,
  id: number,
  owner: string,
  error: string,
  next: Date | null,
): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    .set({
      state: next === null ? "dead" : "waiting",
      error: storableText(error),
      next_attempt_at: next?.toISOString() ?? null,
      ...NO_LEASE,
    })
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}

async function release({ write }: Access, id: number, owner: string): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    .set((eb) => ({ attempts: eb("attempts", "-", 1), ...NO_LEASE }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}

async function giveUp({ write }: Access, id: number, owner: string, error: string): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    .set((eb) => ({
      state: "dead",
      attempts: eb("attempts", "-", 1),
      error: storableText(error),
      next_attempt_at: null,
      ...NO_LEASE,
    }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}
