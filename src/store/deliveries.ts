import { type Selectable, sql } from "kysely";
import { idList, storableText } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import { bringForward, cutLeases, type Lease, NO_LEASE } from "./lease.ts";
import { type StoredDelivery, type StoredNotification, toDelivery, toNotification } from "./notifications.ts";
import type { DeliveryRow, NotificationRow } from "./tables.ts";

export interface DueDelivery extends StoredDelivery {
  readonly notification: StoredNotification;
}

export interface DeliveryLease extends Lease {
  /** The earliest next attempt if the process ends during this one; default: when the lease has expired. */
  readonly retryAt?: Date;
}

const DELIVERIES = "oncehook_deliveries";
const NOT_LEASED = { ...NO_LEASE, lease_alone: 0 } as const;

/** The deliveries of notifications: leased, tried and settled. */
export class Deliveries extends Area {
  /**
   * Leases the due deliveries of these channels, oldest first, each to one owner only. The lease counts the attempt, so that one
   * during which the process ends counts too.
   */
  async leaseDue(channels: readonly string[], lease: DeliveryLease, limit: number): Promise<DueDelivery[]> {
    const leased = await this.database.write
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
        return this.database.dialect === "postgres" ? due.forUpdate().skipLocked() : due;
      })
      .updateTable(DELIVERIES)
      .set({ ...leaseOf(lease), attempts: sql<number>`attempts + 1` })
      .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
      .returningAll()
      .execute();
    return withNotifications(this.database, leased);
  }

  /**
   * Leases the delivery with the fewest attempts among those whose lease has expired: their process has ended. An attempt that was
   * interrupted beside others does not count; one that was leased here, and interrupted too, counts. Nearly always there is none,
   * and then nothing is written.
   */
  async leaseExpired(channels: readonly string[], lease: DeliveryLease): Promise<DueDelivery | undefined> {
    const now = lease.now.toISOString();
    const left = await this.database.read
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
    const leased = await this.database.write
      .updateTable(DELIVERIES)
      .set({ ...leaseOf(lease), attempts: sql<number>`attempts + lease_alone`, lease_alone: 1 })
      .where("id", "=", left.id)
      .where("lease_owner", "=", left.lease_owner)
      .where("leased_until", "<=", now)
      .returningAll()
      .execute();
    return (await withNotifications(this.database, leased))[0];
  }

  /**
   * Corrects deliveries of these channels after the clock was set back: leases that last longer than two of `leaseMs` are cut to
   * one, and times that were set later than now move to as long after now.
   */
  async repairTimes(channels: readonly string[], leaseMs: number, now: Date): Promise<void> {
    // The conditions of the indexes, word for word.
    const ofChannels = sql`channel IN (${sql.join([...channels])})`;
    const leased = sql`lease_owner IS NOT NULL AND ${ofChannels}`;
    const waiting = sql`state = 'waiting' AND ${ofChannels}`;
    await cutLeases(this.database, { table: DELIVERIES, where: leased }, leaseMs, now);
    const scheduled = { key: "id", setAt: "scheduled_at", times: ["next_attempt_at"] };
    await bringForward(this.database, { table: DELIVERIES, where: waiting, ...scheduled }, now);
  }

  /** Settles deliveries that succeeded; returns how many, without those whose lease another process took over. */
  async markDelivered(ids: readonly number[], owner: string, now: Date): Promise<number> {
    const { numAffectedRows = 0n } = await sql`UPDATE oncehook_deliveries
      SET state = 'delivered', delivered_at = ${now.toISOString()}, next_attempt_at = NULL, error = NULL,
        lease_owner = NULL, leased_until = NULL, lease_alone = 0
      WHERE id IN ${idList(this.database.dialect, ids)} AND lease_owner = ${owner}`.execute(
      this.database.write,
    );
    return Number(numAffectedRows);
  }

  /** `nextAttemptAt` null: no further attempt, the delivery is dead. `now` shows later whether the clock was set back. */
  async markFailed(
    id: number,
    owner: string,
    error: string,
    nextAttemptAt: Date | null,
    now?: Date,
  ): Promise<void> {
    await this.database.write
      .updateTable(DELIVERIES)
      .set({
        state: nextAttemptAt === null ? "dead" : "waiting",
        error: storableText(error),
        next_attempt_at: nextAttemptAt?.toISOString() ?? null,
        scheduled_at: now?.toISOString() ?? null,
        ...NOT_LEASED,
      })
      .where("id", "=", id)
      .where("lease_owner", "=", owner)
      .execute();
  }

  /** Releases a lease and takes back its attempt, which ended early by no fault of the receiver. */
  async release(id: number, owner: string): Promise<void> {
    await this.database.write
      .updateTable(DELIVERIES)
      // Due as before: the lease has deferred it in case its process ends.
      .set((eb) => ({
        attempts: eb("attempts", "-", 1),
        next_attempt_at: eb.ref("scheduled_at"),
        ...NOT_LEASED,
      }))
      .where("id", "=", id)
      .where("lease_owner", "=", owner)
      .execute();
  }

  /** Ends a delivery whose attempts were used up before this lease, which does not count as one. */
  async markDead(id: number, owner: string, error: string): Promise<void> {
    await this.database.write
      .updateTable(DELIVERIES)
      .set((eb) => ({
        state: "dead",
        attempts: eb("attempts", "-", 1),
        error: storableText(error),
        next_attempt_at: null,
        ...NOT_LEASED,
      }))
      .where("id", "=", id)
      .where("lease_owner", "=", owner)
      .execute();
  }
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
