import { type RawBuilder, sql } from "kysely";
import { Area, assign, equal, idList, type Query, run, storableText } from "../database.ts";
import { bringForward, cutLeases, type Lease, NO_LEASE, takeLease } from "./lease.ts";
import {
  DELIVERY_COLUMNS,
  type DeliveryRow,
  NOTIFICATION_COLUMNS,
  type NotificationDelivery,
  type NotificationRow,
  type StoredNotification,
  toNotification,
} from "./notifications.ts";

export interface DueNotification extends NotificationDelivery {
  readonly notification: StoredNotification;
}

export interface NotificationLease extends Lease {
  /** The earliest next attempt if the process ends during this one; default: when the lease has expired. */
  readonly retryAt?: Date;
}

const DELIVERIES = "oncehook_deliveries";
const NOT_LEASED = sql`${NO_LEASE}, lease_alone = 0`;
/** Takes back the attempt that a lease has counted. It is due as before: the lease has deferred it in case its process ends. */
const UNCOUNTED = sql`attempts = attempts - 1, next_attempt_at = scheduled_at`;

export class NotificationDeliveries extends Area {
  /**
   * Leases the due deliveries of these channels, oldest first, each to one owner only. The lease counts the attempt, so that
   * one during which the process ends counts too. Each channel is searched by itself. Those of a removed channel are always
   * due, and all of them would be read otherwise.
   */
  leaseDue(channels: readonly string[], lease: NotificationLease, limit: number): Promise<DueNotification[]> {
    const names = channels.map((_, index) => sql.ref(`due_${index}`));
    const due = channels.map(
      (channel, index) => sql`${names[index]} AS (SELECT id, next_attempt_at FROM oncehook_deliveries
        WHERE state = 'waiting' AND channel = ${channel} AND next_attempt_at <= ${lease.now} AND lease_owner IS NULL
        ORDER BY next_attempt_at LIMIT ${limit} ${this.skipLocked})`,
    );
    const all = sql.join(
      names.map((name) => sql`SELECT id, next_attempt_at FROM ${name}`),
      sql` UNION ALL `,
    );
    const take = sql`WITH ${sql.join(due)} UPDATE oncehook_deliveries SET ${leaseOf(lease)}, attempts = attempts + 1
      WHERE id IN (SELECT id FROM (${all}) AS due ORDER BY next_attempt_at LIMIT ${limit}) RETURNING ${DELIVERY_COLUMNS}`;
    return this.lease(lease, take);
  }

  /**
   * Leases the delivery with the fewest attempts among those whose lease has expired: their process has ended. An attempt that was
   * interrupted beside others does not count; one that was leased here, and interrupted too, counts. Nearly always there is none,
   * and then nothing is written.
   */
  async leaseExpired(channels: readonly string[], lease: NotificationLease): Promise<DueNotification | undefined> {
    const { now } = lease;
    const [left] = await this.read<{ id: number; leaseOwner: string }>`
      SELECT id, lease_owner FROM oncehook_deliveries
      WHERE lease_owner IS NOT NULL AND leased_until <= ${now} AND next_attempt_at <= ${now}
        AND channel IN (${sql.join([...channels])}) ORDER BY attempts, id LIMIT 1`;
    if (left === undefined) return undefined;
    const take = sql`UPDATE oncehook_deliveries
      SET ${leaseOf(lease)}, attempts = attempts + lease_alone, lease_alone = 1
      WHERE ${equal(left)} AND leased_until <= ${now} RETURNING ${DELIVERY_COLUMNS}`;
    return (await this.lease(lease, take))[0];
  }

  /** In one transaction: without its notification a delivery would be leased for nothing. */
  private lease({ owner }: Lease, statement: RawBuilder<unknown>): Promise<DueNotification[]> {
    const take = () =>
      this.database.transact(async (query) => {
        const { rows } = await run<DeliveryRow>(query, statement);
        return this.withNotifications(query, rows);
      });
    const release = () => this.write`UPDATE oncehook_deliveries SET ${UNCOUNTED}, ${NOT_LEASED}
      WHERE lease_owner IS NOT NULL AND lease_owner = ${owner}`;
    return takeLease(this.database, take, release);
  }

  /** After the clock was set back: cuts leases of more than two `leaseMs`, and moves times set later than now. */
  async repairTimes(channels: readonly string[], leaseMs: number, now: Date): Promise<void> {
    // The conditions of the indexes, word for word.
    const ofChannels = sql`channel IN (${sql.join([...channels])})`;
    const leased = sql`lease_owner IS NOT NULL AND ${ofChannels}`;
    const waiting = sql`state = 'waiting' AND ${ofChannels}`;
    await cutLeases(this.database, { table: DELIVERIES, where: leased }, leaseMs, now);
    const scheduled = { key: "id", setAt: "scheduledAt", times: ["nextAttemptAt"] };
    await bringForward(this.database, { table: DELIVERIES, where: waiting, ...scheduled }, now);
  }

  /** Settles deliveries that succeeded; returns how many, without those whose lease another process took over. */
  async markDelivered(ids: readonly number[], owner: string, now: Date): Promise<number> {
    const settled = await this.write`UPDATE oncehook_deliveries
      SET state = 'delivered', delivered_at = ${now}, next_attempt_at = NULL, error = NULL, ${NOT_LEASED}
      WHERE id IN ${idList(this.database.dialect, ids)} AND lease_owner = ${owner}`;
    return settled.changes;
  }

  /** `nextAttemptAt` null: no further attempt, the delivery is dead. `now` shows later whether the clock was set back. */
  markFailed(id: number, owner: string, error: string, nextAttemptAt: Date | null, now?: Date): Promise<void> {
    const state = nextAttemptAt === null ? "dead" : "waiting";
    const failed = { state, error: storableText(error), nextAttemptAt, scheduledAt: now };
    return this.settle(id, owner, assign(failed));
  }

  /** Releases a lease and takes back its attempt, which ended early by no fault of the receiver. */
  release(id: number, owner: string): Promise<void> {
    return this.settle(id, owner, UNCOUNTED);
  }

  /** Ends a delivery whose attempts were used up before this lease, which does not count as one. */
  markDead(id: number, owner: string, error: string): Promise<void> {
    const changes = sql`state = 'dead', attempts = attempts - 1, error = ${storableText(error)}, next_attempt_at = NULL`;
    return this.settle(id, owner, changes);
  }

  private async settle(id: number, owner: string, changes: RawBuilder<unknown>): Promise<void> {
    await this.write`UPDATE oncehook_deliveries SET ${changes}, ${NOT_LEASED}
      WHERE ${equal({ id, leaseOwner: owner })}`;
  }

  private async withNotifications(query: Query, leased: readonly DeliveryRow[]): Promise<DueNotification[]> {
    if (leased.length === 0) return [];
    const ids = leased.map(({ notificationId }) => notificationId);
    const ofThese = sql`SELECT ${NOTIFICATION_COLUMNS} FROM oncehook_notifications
      WHERE id IN ${idList(this.database.dialect, ids)}`;
    const { rows } = await run<NotificationRow>(query, ofThese);
    const byId = new Map(rows.map((row) => [row.id, toNotification(row)]));
    return leased.flatMap(({ notificationId, ...delivery }) => {
      const notification = byId.get(notificationId);
      return notification === undefined ? [] : [{ ...delivery, notification }];
    });
  }
}

function leaseOf({ owner, until, now, retryAt = now }: NotificationLease): RawBuilder<unknown> {
  return assign({ leaseOwner: owner, leasedUntil: until, nextAttemptAt: retryAt, scheduledAt: now });
}
