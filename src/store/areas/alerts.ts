import { sql } from "kysely";
import { DAY_MS, type JsonObject, OVERVIEW_RANGES, type PeriodCount } from "../../domain/index.ts";
import { Area, assign, equal, type IdRow, insert, rowList, run } from "../database.ts";
import { firstAccepted } from "./failures.ts";
import { ALERT_POSITION } from "./notifications.ts";

export type AlertKind = "failures" | "accepted" | "signatures" | "silence";

/** The subject of an alert; it is an event type, or empty where the whole source is meant. */
export interface AlertKey {
  readonly kind: AlertKind;
  readonly source: string;
  readonly subject: string;
}

export interface StoredAlert extends AlertKey {
  readonly isOpen: boolean;
  /** From 1; grows with each change. */
  readonly number: number;
  /** When it was opened last. */
  readonly since: Date;
  /** The number of failures in the last notification; 0 for the other kinds. */
  readonly notifiedCount: number;
  readonly notifiedAt: Date;
  /** Whether the last notification said that it is open. */
  readonly notifiedOpen: boolean;
  /** The last notification, which retention may have deleted; null where an earlier version sent it. */
  readonly notificationId: number | null;
  /** Kept after its time, until an evaluation has reported how the alert is then. */
  readonly mute: AlertMute | null;
}

/** Until then the alert sends no notification. */
export interface AlertMute {
  readonly until: Date;
  /** The operator. */
  readonly by: string;
  readonly reason: string;
}

export interface AlertChange extends Omit<StoredAlert, "number" | "notifiedOpen" | "notificationId" | "mute"> {
  /** Removes its mute. */
  readonly endsMute?: true;
  /** The number of the state that was evaluated; 0 if there was none. */
  readonly from: number;
  /** Written to the outbox in the same transaction. */
  readonly message?: { readonly topic: string; readonly payload: JsonObject };
}

/** How many authentic callbacks of an event type came. */
export interface Arrival {
  readonly source: string;
  readonly eventType: string;
  readonly count: number;
}

/** The callbacks of an event type on one day (UTC), to the minute. */
export interface ArrivalDay extends Arrival {
  /** In days since the epoch. */
  readonly day: number;
  /** The longest time without one that ended on this day, in milliseconds; it may have started earlier. */
  readonly longestGapMs: number;
  readonly lastAt: Date;
}

interface AlertRow extends Omit<StoredAlert, "isOpen" | "notifiedOpen" | "since" | "notifiedAt" | "mute"> {
  readonly isOpen: number;
  readonly notifiedOpen: number;
  readonly since: string;
  readonly notifiedAt: string;
  readonly mutedUntil: string | null;
  readonly mutedBy: string | null;
  readonly muteReason: string | null;
}

/** The source of an alert's notification. */
const OWN_SOURCE = "oncehook";

/** Longer than any rolling deployment leaves no process running. */
const INTERRUPTION_MS = 300_000;
const STEP_SECONDS = OVERVIEW_RANGES.day.stepSeconds;

/** The figures that alerts are evaluated from, and the alerts that were sent. */
export class Alerts extends Area {
  /**
   * Claims the evaluation of a kind: one caller per `everyMs` succeeds, across all processes. Returns since when evaluations
   * have followed each other without an interruption of five minutes; undefined to all other callers.
   */
  async claimEvaluation(kind: AlertKind, at: Date, everyMs: number): Promise<Date | undefined> {
    const now = at.getTime();
    // A due time far ahead was written before the clock was set back.
    const { rows } = await this.write<{ sinceMs: number }>`
      INSERT INTO oncehook_alert_turns (name, next_at_ms, since_ms) VALUES (${kind}, ${now + everyMs}, ${now})
      ON CONFLICT (name) DO UPDATE SET next_at_ms = excluded.next_at_ms,
        since_ms = CASE
          WHEN oncehook_alert_turns.next_at_ms < ${now - INTERRUPTION_MS} OR oncehook_alert_turns.since_ms > ${now}
          THEN excluded.since_ms ELSE oncehook_alert_turns.since_ms END
      WHERE oncehook_alert_turns.next_at_ms <= ${now}
        OR oncehook_alert_turns.next_at_ms > ${now + 2 * everyMs}
      RETURNING since_ms`;
    return rows[0] && new Date(rows[0].sinceMs);
  }

  /** Adds callbacks that came just before `at`, all of them or none. */
  async addArrivals(at: Date, added: readonly Arrival[]): Promise<void> {
    if (added.length === 0) return;
    const now = at.getTime();
    const rows = added.map(({ source, eventType, count }) => ({ source, event_type: eventType, count }));
    const columns = { source: "text", event_type: "text", count: "bigint" } as const;
    // One order for all processes prevents deadlocks. Without WHERE SQLite would read ON as part of a join.
    await this
      .write`INSERT INTO oncehook_arrival_days AS stored (source, event_type, day, count, longest_gap_ms, last_ms)
      SELECT g.source, g.event_type, ${Math.floor(now / DAY_MS)}, g.count, ${now} - coalesce((SELECT max(last_ms)
        FROM oncehook_arrival_days AS d WHERE d.source = g.source AND d.event_type = g.event_type), ${now}), ${now}
      FROM ${rowList(this.database.dialect, columns, rows)} AS g WHERE true ORDER BY g.source, g.event_type
      ON CONFLICT (source, event_type, day) DO UPDATE SET
        count = stored.count + excluded.count,
        longest_gap_ms = CASE WHEN excluded.longest_gap_ms > stored.longest_gap_ms
          THEN excluded.longest_gap_ms ELSE stored.longest_gap_ms END,
        last_ms = excluded.last_ms`;
  }

  async listArrivals(): Promise<ArrivalDay[]> {
    const rows = await this.read<Omit<ArrivalDay, "lastAt"> & { readonly lastMs: number }>`
      SELECT source, event_type, day, count, longest_gap_ms, last_ms FROM oncehook_arrival_days`;
    return rows.map(({ lastMs, ...day }) => ({ ...day, lastAt: new Date(lastMs) }));
  }

  async deleteArrivalsBefore(day: number): Promise<void> {
    await this.write`DELETE FROM oncehook_arrival_days WHERE day < ${day}`;
  }

  /** When the oldest quarter-hour began of which outcomes are kept, in seconds since the epoch. */
  async firstOutcomeSlot(): Promise<number | undefined> {
    const [first] = await this.read<{ slot: number }>`SELECT slot FROM oncehook_rollups
      WHERE step_seconds = ${STEP_SECONDS} ORDER BY slot LIMIT 1`;
    return first?.slot;
  }

  /** The outcomes of the quarter-hours that begin at `from` or later and before `to`, in seconds since the epoch. */
  outcomes(from: number, to: number, stepSeconds: number = STEP_SECONDS): Promise<readonly PeriodCount[]> {
    return this.read`SELECT source, outcome, slot, sum(count) AS count FROM oncehook_rollups
      WHERE step_seconds = ${stepSeconds} AND slot >= ${from} AND slot < ${to} GROUP BY slot, source, outcome`;
  }

  /**
   * Exhausted and rejected failures by type, among `limit` of them; `isComplete` is false if there are more. `muted` of a type
   * have a problem that is muted, and are not in its `count`.
   */
  async exhausted(limit: number, now: Date) {
    const types = await this.read<Arrival & { readonly muted: number }>`
      SELECT source, event_type, count(*) - count(muted) AS count, count(muted) AS muted FROM (
        SELECT f.source, f.event_type, p.id AS muted FROM (
          SELECT source, event_type, problem_id FROM oncehook_failures
          WHERE state IN ('exhausted', 'rejected') LIMIT ${limit}) AS f
        LEFT JOIN oncehook_problem_states AS p ON p.id = f.problem_id AND p.muted_until > ${now}
      ) AS looked_at GROUP BY source, event_type ORDER BY source, event_type`;
    return { types, isComplete: types.reduce((sum, { count, muted }) => sum + count + muted, 0) < limit };
  }

  /** Those whose refused callbacks are a muted problem. */
  async mutedSources(now: Date): Promise<ReadonlySet<string>> {
    const rows = await this.read<{ source: string }>`SELECT source FROM oncehook_problem_states
      WHERE kind = 'refusal' AND muted_until > ${now}`;
    return new Set(rows.map(({ source }) => source));
  }

  /**
   * Since when the oldest accepted event of each source waits, among the `limit` events that arrived first.
   * @returns by the source of the key: one for each tenant and named handler; `isComplete` as `exhausted` does
   */
  async oldestAccepted(limit: number) {
    const rows = await this.read<{ source: string; since: string; count: number }>`
      SELECT source, min(last_failed_at) AS since, count(*) AS count
      FROM (${firstAccepted(limit)}) AS first GROUP BY source ORDER BY source`;
    return {
      sources: rows.map(({ source, since }) => ({ source, since: new Date(since) })),
      isComplete: rows.reduce((sum, { count }) => sum + count, 0) < limit,
    };
  }

  async list(): Promise<StoredAlert[]> {
    const rows = await this.read<AlertRow>`SELECT kind, source, subject, is_open, number, since, notified_count,
      notified_at, notified_open, notification_id, muted_until, muted_by, mute_reason FROM oncehook_alerts
      ORDER BY kind, source, subject`;
    return rows.map(({ isOpen, since, notifiedAt, notifiedOpen, mutedUntil, mutedBy, muteReason, ...row }) => ({
      ...row,
      ...{ isOpen: Boolean(isOpen), notifiedOpen: Boolean(notifiedOpen) },
      ...{ since: new Date(since), notifiedAt: new Date(notifiedAt) },
      mute: mutedUntil === null ? null : { until: new Date(mutedUntil), by: mutedBy ?? "", reason: muteReason ?? "" },
    }));
  }

  /**
   * Mutes an alert, open or not; the mute takes the place of an earlier one. An evaluation under way changes nothing then.
   * @returns false where the alert never started
   */
  async mute({ kind, source, subject }: AlertKey, { until, by, reason }: AlertMute): Promise<boolean> {
    const { changes } = await this.write`UPDATE oncehook_alerts
      SET muted_until = ${until}, muted_by = ${by}, mute_reason = ${reason}, number = number + 1
      WHERE ${equal({ kind, source, subject })}`;
    return changes > 0;
  }

  /** Ends a mute now: the next evaluation reports how the alert is. Returns false where it is not muted. */
  async unmute({ kind, source, subject }: AlertKey, now: Date): Promise<boolean> {
    const { changes } = await this.write`UPDATE oncehook_alerts SET muted_until = ${now}, number = number + 1
      WHERE ${equal({ kind, source, subject })} AND muted_until > ${now}`;
    return changes > 0;
  }

  /** Returns false and writes nothing if another process changed the alert since it was evaluated. */
  change({ kind, source, subject, from, message, endsMute, ...change }: AlertChange): Promise<boolean> {
    const { isOpen, since, notifiedCount, notifiedAt } = change;
    const number = from + 1;
    const values = {
      ...{ isOpen: isOpen ? 1 : 0, number, since, notifiedCount, notifiedAt },
      ...(message === undefined ? {} : { notifiedOpen: isOpen ? 1 : 0 }),
      ...(endsMute === true ? { mutedUntil: null, mutedBy: null, muteReason: null } : {}),
    };
    const changed = sql`${insert("oncehook_alerts", { kind, source, subject, ...values })}
      ON CONFLICT (kind, source, subject) DO UPDATE SET ${assign(values)} WHERE oncehook_alerts.number = ${from}`;
    return this.database.transact(async (query) => {
      if ((await run(query, changed)).changes === 0) return false;
      if (message !== undefined) {
        const { topic, payload } = message;
        const eventId = ["alert", kind, source, subject, number].join("/");
        const row = { source: OWN_SOURCE, eventId, position: ALERT_POSITION, topic, payload: JSON.stringify(payload) };
        const { rows } = await run<IdRow>(
          query,
          sql`${insert("oncehook_notifications", { ...row, createdAt: notifiedAt })} RETURNING id`,
        );
        await run(
          query,
          sql`UPDATE oncehook_alerts SET notification_id = ${rows[0]?.id ?? null}
            WHERE ${equal({ kind, source, subject })}`,
        );
      }
      return true;
    });
  }
}
