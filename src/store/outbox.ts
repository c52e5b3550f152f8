import { type Selectable, sql } from "kysely";
import { idList } from "./column-values.ts";
import { Area } from "./database.ts";
import { isUnleased } from "./lease.ts";
import { type StoredNotification, toNotification, UNDELIVERED } from "./notifications.ts";
import type { NotificationRow } from "./tables.ts";

/** The result for a notification's dead deliveries. */
export interface RedeliveryResult {
  readonly deliveries: number;
  /** Channels with dead deliveries that are not configured: their deliveries stay dead. */
  readonly notConfigured: readonly string[];
}

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";

/** The outbox: makes the deliveries of notifications, one a channel, which `Deliveries` leases and settles. */
export class Outbox extends Area {
  /**
   * Makes the deliveries of notifications that have none yet, oldest first; returns how many notifications. The mark comes after
   * the deliveries: after a process that ended between the two, the next call finds the deliveries made.
   */
  async fanOut(channels: readonly string[], now: Date, limit: number): Promise<number> {
    const { write, read, dialect } = this.database;
    const fresh = await read
      .selectFrom(NOTIFICATIONS)
      .select("id")
      .where("fanned_out_at", "is", null)
      .orderBy("id")
      .limit(limit)
      .execute();
    if (fresh.length === 0) return 0;
    const at = now.toISOString();
    const ids = idList(
      dialect,
      fresh.map(({ id }) => id),
    );
    const given =
      dialect === "postgres"
        ? sql`unnest(${channels}::text[]) WITH ORDINALITY AS given (value, key)`
        : sql`json_each(${JSON.stringify(channels)}) AS given`;
    // SQLite takes ON CONFLICT after a SELECT only where it cannot be read as the condition of a join.
    await sql`INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, next_attempt_at, scheduled_at)
      SELECT fresh.id, given.value, 'waiting', 0, ${at}, ${at} FROM ${ids} AS fresh CROSS JOIN ${given} WHERE true
      ORDER BY fresh.id, given.key
      ON CONFLICT (notification_id, channel) DO NOTHING`.execute(write);
    await sql`UPDATE oncehook_notifications SET fanned_out_at = ${at} WHERE id IN ${ids}`.execute(write);
    return fresh.length;
  }

  /**
   * Passes notifications that have no deliveries yet to the only channel, oldest first, in one transaction: its commit delivers
   * them. No other process gets the same ones. Returns how many.
   * @param take gets them at once, and again where the transaction does not commit
   */
  deliverDirectly(
    channel: string,
    now: Date,
    limit: number,
    take: (notifications: readonly StoredNotification[]) => void,
  ): Promise<number> {
    return this.database.transact(async (query) => {
      const { rows } = await sql<
        Selectable<NotificationRow>
      >`WITH fresh AS (SELECT id FROM oncehook_notifications
          WHERE fanned_out_at IS NULL ORDER BY id LIMIT ${limit} ${this.skipLocked})
        UPDATE oncehook_notifications SET fanned_out_at = ${now.toISOString()}, delivered_to = ${channel}
        WHERE id IN (SELECT id FROM fresh) RETURNING *`.execute(query);
      // They come in no order of their own.
      if (rows.length > 0) take(rows.map(toNotification).sort((one, other) => one.id - other.id));
      return rows.length;
    });
  }

  /**
   * Makes the dead deliveries of a notification to these channels due again, from their first attempt. Those of other channels
   * stay dead: they would wait forever.
   */
  async redeliverDead(
    notificationId: number,
    channels: readonly string[],
    now: Date,
  ): Promise<RedeliveryResult> {
    const { write, read } = this.database;
    const revived = await write
      .updateTable(DELIVERIES)
      .set({
        state: "waiting",
        attempts: 0,
        next_attempt_at: now.toISOString(),
        scheduled_at: now.toISOString(),
      })
      .where("notification_id", "=", notificationId)
      .where("state", "=", "dead")
      .where("channel", "in", channels)
      .returning("id")
      .execute();
    const left = await read
      .selectFrom(DELIVERIES)
      .select("channel")
      .where("notification_id", "=", notificationId)
      .where("state", "=", "dead")
      .where("channel", "not in", channels)
      .orderBy("channel")
      .execute();
    return { deliveries: revived.length, notConfigured: left.map(({ channel }) => channel) };
  }

  /**
   * Deletes the waiting and the dead deliveries of a notification, of one channel or of all; returns how many. `leased`: there are
   * only deliveries under way, which may still succeed.
   */
  async discard(notificationId: number, channel: string | undefined, now: Date): Promise<number | "leased"> {
    const { write, read } = this.database;
    let doomed = write
      .deleteFrom(DELIVERIES)
      .where("notification_id", "=", notificationId)
      .where("state", "in", ["waiting", "dead"])
      .where(isUnleased(now));
    if (channel !== undefined) doomed = doomed.where("channel", "=", channel);
    const gone = Number((await doomed.executeTakeFirst()).numDeletedRows);
    if (gone > 0) return gone;
    let kept = read
      .selectFrom(DELIVERIES)
      .select("id")
      .where("notification_id", "=", notificationId)
      .where("state", "=", "waiting");
    if (channel !== undefined) kept = kept.where("channel", "=", channel);
    return (await kept.executeTakeFirst()) === undefined ? 0 : "leased";
  }

  /** The deliveries that are not delivered, by state. */
  async counts(): Promise<Record<"waiting" | "dead", number>> {
    const { read } = this.database;
    const rows = await read
      .selectFrom(DELIVERIES)
      .select((eb) => ["state", eb.fn.countAll().as("count")])
      .where(UNDELIVERED)
      .groupBy("state")
      .execute();
    const found = new Map(rows.map((row) => [row.state, Number(row.count)]));
    return { waiting: found.get("waiting") ?? 0, dead: found.get("dead") ?? 0 };
  }

  /** How many deliveries wait, by channel, configured or not. */
  async waitingByChannel(): Promise<ReadonlyMap<string, number>> {
    const { read } = this.database;
    const rows = await read
      .selectFrom(DELIVERIES)
      .select((eb) => ["channel", eb.fn.countAll().as("count")])
      .where("state", "=", sql.lit("waiting"))
      .groupBy("channel")
      .orderBy("channel")
      .execute();
    return new Map(rows.map((row) => [row.channel, Number(row.count)]));
  }
}
