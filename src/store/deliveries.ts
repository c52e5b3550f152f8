import { type Selectable, sql } from "kysely";
import { idList, isoTime, storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
import { latestPlausibleLeaseEnd } from "./lease.ts";
import {
  type DeliveryLease,
  type DueDelivery,
  type OutboxStore,
  toDelivery,
  toNotification,
} from "./outbox.ts";
import type { DeliveryRow, NotificationRow } from "./tables.ts";

const DELIVERIES = "oncehook_deliveries";
/** The condition of the index, word for word. */
const WAITING = sql<boolean>`state = 'waiting'`;
/** Rows repaired per round; the others wait for the next round. */
const AT_ONCE = 250;
/** Processes whose clocks differ by less do not mend each other's times. */
const CLOCK_TOLERANCE_MS = 10_000;

type Leases = Pick<OutboxStore, "leaseDue" | "leaseExpired" | "repairTimes">;

/** Leases deliveries and recovers leases whose process has ended. */
export function deliveryLeases(database: Database): Leases {
  return {
    leaseDue: (channels, lease, limit) => leaseDue(database, channels, lease, limit),
    leaseExpired: (channels, lease) => leaseExpired(database, channels, lease),
    async repairTimes(channels, leaseMs, now) {
      await cutLeases(database, channels, leaseMs, now);
      await bringForward(database, channels, now);
    },
  };
}

async function leaseDue(
  database: Database,
  channels: readonly string[],
  lease: DeliveryLease,
  limit: number,
): Promise<DueDelivery[]> {
  const leased = await database.write
    .with("due", (db) => {
      const due = db
        .selectFrom(DELIVERIES)
        .select("id")
        .where("state", "=", sql.lit("waiting"))
        .where("next_attempt_at", "<=", lease.now.toISOString())
        .where("channel", "in", channels)
        .where("lease_owner", "is", null)
        .orderBy("next_attempt_at")
        .limit(limit);
      return database.dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(DELIVERIES)
    .set({ ...leaseOf(lease), attempts: sql<number>`attempts + 1` })
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .execute();
  return withNotifications(database, leased);
}

/** Looked up before it is leased: nearly always there is none, and then nothing is written. */
async function leaseExpired(
  database: Database,
  channels: readonly string[],
  lease: DeliveryLease,
): Promise<DueDelivery | undefined> {
  const now = lease.now.toISOString();
  const left = await database.read
    .selectFrom(DELIVERIES)
    .select(["id", "lease_owner"])
    .where("lease_owner", "is not", null)
    .where("leased_until", "<=", now)
    .where("next_attempt_at", "<=", now)
    .where("channel", "in", channels)
    .orderBy("attempts")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (left === undefined) return undefined;
  const leased = await database.write
    .updateTable(DELIVERIES)
    .set({ ...leaseOf(lease), attempts: sql<number>`attempts + lease_alone`, lease_alone: 1 })
    .where("id", "=", left.id)
    .where("lease_owner", "=", left.lease_owner)
    .where("leased_until", "<=", now)
    .returningAll()
    .execute();
  return (await withNotifications(database, leased))[0];
}

function leaseOf({ owner, until, now, retryAt = now }: DeliveryLease) {
  return {
    lease_owner: owner,
    leased_until: until.toISOString(),
    next_attempt_at: retryAt.toISOString(),
    scheduled_at: now.toISOString(),
  };
}

async function withNotifications(
  { write, dialect }: Database,
  leased: readonly Selectable<DeliveryRow>[],
): Promise<DueDelivery[]> {
  if (leased.length === 0) return [];
  const ids = idList(
    dialect,
    leased.map((row) => row.notification_id),
  );
  const notifications = await sql<
    Selectable<NotificationRow>
  >`SELECT * FROM oncehook_notifications WHERE id IN ${ids}`.execute(write);
  const byId = new Map(notifications.rows.map((row) => [String(row.id), toNotification(row)]));
  return leased.flatMap((row) => {
    const notification = byId.get(String(row.notification_id));
    return notification === undefined ? [] : [{ ...toDelivery(row), notification }];
  });
}

async function cutLeases(
  { read, write }: Database,
  channels: readonly string[],
  leaseMs: number,
  now: Date,
): Promise<void> {
  const latest = latestPlausibleLeaseEnd(now, leaseMs).toISOString();
  const far = await read
    .selectFrom(DELIVERIES)
    .select("id")
    .where("lease_owner", "is not", null)
    .where("leased_until", ">", latest)
    .where("channel", "in", channels)
    .limit(AT_ONCE)
    .execute();
  if (far.length === 0) return;
  await write
    .updateTable(DELIVERIES)
    .set({ leased_until: new Date(now.getTime() + leaseMs).toISOString() })
    .where("lease_owner", "is not", null)
    // Another process may have given the lease meanwhile.
    .where("leased_until", ">", latest)
    .where(
      "id",
      "in",
      far.map(({ id }) => id),
    )
    .execute();
}

async function bringForward(
  { read, transact }: Database,
  channels: readonly string[],
  now: Date,
): Promise<void> {
  const far = await read
    .selectFrom(DELIVERIES)
    .select(["id", "scheduled_at", "next_attempt_at"])
    .where(WAITING)
    .where("scheduled_at", ">", new Date(now.getTime() + CLOCK_TOLERANCE_MS).toISOString())
    .where("channel", "in", channels)
    .orderBy("scheduled_at")
    .limit(AT_ONCE)
    .execute();
  if (far.length === 0) return;
  await transact(async (query) => {
    for (const { id, scheduled_at, next_attempt_at } of far) {
      const wait = timeOf(next_attempt_at) - timeOf(scheduled_at);
      await query
        .updateTable(DELIVERIES)
        .set({
          next_attempt_at: new Date(now.getTime() + Math.max(0, wait)).toISOString(),
          scheduled_at: now.toISOString(),
        })
        .where("id", "=", id)
        .where("scheduled_at", "=", scheduled_at)
        .where(WAITING)
        .execute();
    }
  });
}

function timeOf(time: DeliveryRow["scheduled_at"]): number {
  return time === null ? 0 : Date.parse(isoTime(time));
}

const NO_LEASE = { lease_owner: null, leased_until: null, lease_alone: 0 } as const;

export async function markDelivered(
  { write, dialect }: Database,
  deliveries: readonly number[],
  owner: string,
  now: Date,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`UPDATE oncehook_deliveries
    SET state = 'delivered', delivered_at = ${now.toISOString()}, next_attempt_at = NULL, error = NULL,
      lease_owner = NULL, leased_until = NULL, lease_alone = 0
    WHERE id IN ${idList(dialect, deliveries)} AND lease_owner = ${owner}`.execute(write);
  return Number(numAffectedRows);
}

export async function markFailed(
  { write }: Database,
  id: number,
  owner: string,
  error: string,
  next: Date | null,
  now: Date | undefined,
): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    .set({
      state: next === null ? "dead" : "waiting",
      error: storableText(error),
      next_attempt_at: next?.toISOString() ?? null,
      scheduled_at: now?.toISOString() ?? null,
      ...NO_LEASE,
    })
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}

export async function releaseDelivery({ write }: Database, id: number, owner: string): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    // Due as it was: the lease has put it off for the case that its process ends.
    .set((eb) => ({ attempts: eb("attempts", "-", 1), next_attempt_at: eb.ref("scheduled_at"), ...NO_LEASE }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}

export async function markDead({ write }: Database, id: number, owner: string, error: string): Promise<void> {
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
