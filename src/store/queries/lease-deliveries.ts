import { type Selectable, sql } from "kysely";
import type { DeliveryLease, DueDelivery, OutboxStore } from "../outbox-store.ts";
import type { DeliveryRow, NotificationRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { idList } from "./id-list.ts";
import { isoTime, toDelivery, toNotification } from "./rows.ts";
import { latestBelievable } from "./unleased.ts";

const DELIVERIES = "oncehook_deliveries";
/** The condition of the index, word for word. */
const WAITING = sql<boolean>`state = 'waiting'`;
/** What is mended at a time; the others wait for the next round. */
const AT_ONCE = 250;
/** Processes whose clocks differ by less do not mend each other's times. */
const CLOCK_TOLERANCE_MS = 10_000;

type Leases = Pick<OutboxStore, "leaseDue" | "leaseLeft" | "mendTimes">;

/** Who tries a delivery, and what becomes of a lease whose process has ended. */
export function deliveryLeases(access: Access): Leases {
  return {
    leaseDue: (channels, lease, limit) => leaseDue(access, channels, lease, limit),
    leaseLeft: (channels, lease) => leaseLeft(access, channels, lease),
    async mendTimes(channels, leaseMs, now) {
      await cutLeases(access, channels, leaseMs, now);
      await bringForward(access, channels, now);
    },
  };
}

async function leaseDue(
  access: Access,
  channels: readonly string[],
  lease: DeliveryLease,
  limit: number,
): Promise<DueDelivery[]> {
  const leased = await access.write
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
      return access.dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(DELIVERIES)
    .set({ ...leaseOf(lease), attempts: sql<number>`attempts + 1` })
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .execute();
  return withNotifications(access, leased);
}

/** Looked up before it is leased: nearly always there is none, and then nothing is written. */
async function leaseLeft(
  access: Access,
  channels: readonly string[],
  lease: DeliveryLease,
): Promise<DueDelivery | undefined> {
  const now = lease.now.toISOString();
  const left = await access.read
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
  const leased = await access.write
    .updateTable(DELIVERIES)
    .set({ ...leaseOf(lease), attempts: sql<number>`attempts + lease_alone`, lease_alone: 1 })
    .where("id", "=", left.id)
    .where("lease_owner", "=", left.lease_owner)
    .where("leased_until", "<=", now)
    .returningAll()
    .execute();
  return (await withNotifications(access, leased))[0];
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
  { write, dialect }: Access,
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
  { read, write }: Access,
  channels: readonly string[],
  leaseMs: number,
  now: Date,
): Promise<void> {
  const latest = latestBelievable(now, leaseMs).toISOString();
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
  { read, transact }: Access,
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
