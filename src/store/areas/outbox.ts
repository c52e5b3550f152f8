import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { Area, equal, type IdRow, idList, idsOf, run } from "../database.ts";
import { isUnleased } from "./lease.ts";
import {
  ALERT_POSITION,
  NOTIFICATION_COLUMNS,
  type NotificationRow,
  type StoredNotification,
  toNotification,
  UNDELIVERED,
} from "./notifications.ts";

const REDELIVERED_A_STEP = 500;

/** The outbox: makes the deliveries of notifications, one a channel, which `NotificationDeliveries` leases and settles. */
export class Outbox extends Area {
  /**
   * Makes the deliveries of notifications that have none yet, oldest first; returns how many notifications. The mark commits with
   * the deliveries, so that no snapshot has the one without the other.
   * @param alertChannels get only alerts
   */
  async fanOut(
    channels: readonly string[],
    now: Date,
    limit: number,
    alertChannels: readonly string[] = [],
  ): Promise<number> {
    const { dialect } = this.database;
    const { rows: fresh } = await run<IdRow & { readonly position: number }>(
      this.database.readFirst,
      sql`SELECT id, position FROM oncehook_notifications
        WHERE fanned_out_at IS NULL ORDER BY id LIMIT ${sql.lit(limit)}`,
    );
    if (fresh.length === 0) return 0;
    const ids = idList(dialect, idsOf(fresh));
    const alerts = alertChannels.length === 0 ? [] : fresh.filter(({ position }) => position === ALERT_POSITION);
    const deliveries = [
      this.#deliveries(idsOf(fresh), channels, now),
      ...(alerts.length === 0 ? [] : [this.#deliveries(idsOf(alerts), alertChannels, now)]),
    ];
    await this.database.transact(async (query) => {
      for (const insert of deliveries) await run(query, insert);
      await run(query, sql`UPDATE oncehook_notifications SET fanned_out_at = ${now} WHERE id IN ${ids}`);
    });
    return fresh.length;
  }

  #deliveries(ids: readonly number[], channels: readonly string[], now: Date) {
    const { dialect } = this.database;
    const given =
      dialect === "postgres"
        ? sql`unnest(${channels}::text[]) WITH ORDINALITY AS given (value, key)`
        : sql`json_each(${JSON.stringify(channels)}) AS given`;
    // SQLite takes ON CONFLICT after a SELECT only where it cannot be read as the condition of a join.
    return sql`INSERT INTO oncehook_deliveries
        (notification_id, channel, state, attempts, next_attempt_at, scheduled_at)
      SELECT fresh.id, given.value, 'waiting', 0, ${now}, ${now}
      FROM ${idList(dialect, ids)} AS fresh CROSS JOIN ${given} WHERE true
      ORDER BY fresh.id, given.key
      ON CONFLICT (notification_id, channel) DO NOTHING`;
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
    // The limit is part of the text: SQLite compiles a statement again each time its LIMIT is bound.
    return this.database.transact(
      async (query) => {
        const { rows } = await run<NotificationRow>(
          query,
          sql`WITH fresh AS (SELECT id FROM oncehook_notifications
            WHERE fanned_out_at IS NULL ORDER BY id LIMIT ${sql.lit(limit)} ${this.skipLocked})
          UPDATE oncehook_notifications SET fanned_out_at = ${now}, delivered_to = ${channel}
          WHERE id IN (SELECT id FROM fresh) RETURNING ${NOTIFICATION_COLUMNS}`,
        );
        // They come in no order of their own.
        if (rows.length > 0) take(rows.map(toNotification).sort((one, other) => one.id - other.id));
        return rows.length;
      },
      { mayWait: true, takesFirst: true },
    );
  }

  /**
   * Makes the dead deliveries of a notification to these channels due again, from their first attempt.
   * @returns how many, and the channels that are not configured: their deliveries stay dead
   */
  async redeliverDead(notificationId: number, channels: readonly string[], now: Date) {
    const dead = equal({ notificationId, state: "dead" });
    const configured = sql.join([...channels]);
    const { changes } = await this.write`UPDATE oncehook_deliveries
      SET state = 'waiting', problem_id = '', attempts = 0, next_attempt_at = ${now}, scheduled_at = ${now}
      WHERE ${dead} AND channel IN (${configured})`;
    const left = await this.read<{ channel: string }>`SELECT channel FROM oncehook_deliveries
      WHERE ${dead} AND channel NOT IN (${configured}) ORDER BY channel`;
    return { deliveries: changes, notConfigured: left.map(({ channel }) => channel) };
  }

  /** Makes all deliveries of a problem due again, from their first attempt, in steps; returns how many. */
  async redeliverProblem(problem: string, now: Date): Promise<number> {
    const dead = sql`state = 'dead' AND problem_id = ${problem} AND problem_id <> ''`;
    let deliveries = 0;
    for (let changed = REDELIVERED_A_STEP; changed === REDELIVERED_A_STEP; deliveries += changed) {
      const { changes } = await this.write`UPDATE oncehook_deliveries
        SET state = 'waiting', problem_id = '', attempts = 0, next_attempt_at = ${now}, scheduled_at = ${now}
        WHERE id IN (SELECT id FROM oncehook_deliveries WHERE ${dead} ORDER BY id LIMIT ${sql.lit(REDELIVERED_A_STEP)})
        AND ${dead}`;
      changed = changes;
      await nextTurn();
    }
    return deliveries;
  }

  /** Deletes the deliveries that are not delivered; returns how many. `leased`: those left may still succeed. */
  async discard(notificationId: number, channel: string | undefined, now: Date): Promise<number | "leased"> {
    const given = equal({ notificationId, channel });
    const { changes } = await this.write`DELETE FROM oncehook_deliveries
      WHERE ${given} AND ${UNDELIVERED} AND ${isUnleased(now)}`;
    if (changes > 0) return changes;
    const kept = await this.read`SELECT id FROM oncehook_deliveries
      WHERE ${given} AND state = 'waiting' LIMIT 1`;
    return kept.length === 0 ? 0 : "leased";
  }

  async counts(): Promise<Record<"waiting" | "dead", number>> {
    const rows = await this.read<{ state: "waiting" | "dead"; count: number }>`
      SELECT state, count(*) AS count FROM oncehook_deliveries WHERE ${UNDELIVERED} GROUP BY state`;
    return { waiting: 0, dead: 0, ...Object.fromEntries(rows.map(({ state, count }) => [state, count])) };
  }

  /** How many deliveries wait, by channel, configured or not. */
  async waitingByChannel(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.read<{ channel: string; count: number }>`SELECT channel, count(*) AS count
      FROM oncehook_deliveries WHERE state = 'waiting' GROUP BY channel ORDER BY channel`;
    return new Map(rows.map(({ channel, count }) => [channel, count]));
  }
}
