import { type Selectable, sql } from "kysely";
import { type JsonObject, OVERVIEW_RANGES } from "../domain/index.ts";
import { Area, type Database } from "./database.ts";
import type { AlertRow } from "./tables.ts";

export type AlertKind = "failures" | "signatures" | "silence";

/** What an alert is about; `subject` is an event type, or empty where it is about the whole source. */
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
}

export interface AlertChange extends AlertKey {
  /** The number of the state that was evaluated; 0 if there was none. */
  readonly from: number;
  readonly isOpen: boolean;
  readonly since: Date;
  readonly notifiedCount: number;
  readonly notifiedAt: Date;
  /** Written to the outbox in the same transaction. */
  readonly message?: { readonly topic: string; readonly payload: JsonObject };
}

/** How many authentic callbacks of an event type came. */
export interface Arrival {
  readonly source: string;
  readonly eventType: string;
  readonly count: number;
}

/** What came of an event type on one day (UTC), to the minute. */
export interface ArrivalDay extends Arrival {
  /** In days since the epoch. */
  readonly day: number;
  /** The longest time without one that ended on this day, in milliseconds; it may have started earlier. */
  readonly longestGapMs: number;
  readonly lastAt: Date;
}

/** How many callbacks of a source ended with an outcome in a quarter of an hour. */
export interface OutcomeCount {
  readonly source: string;
  readonly outcome: string;
  /** In seconds since the epoch. */
  readonly slot: number;
  readonly count: number;
}

export interface ExhaustedCounts {
  readonly types: readonly { readonly source: string; readonly eventType: string; readonly count: number }[];
  /** False if there are more than `limit`, so that a type that is missing may still have some. */
  readonly isComplete: boolean;
}

/** The source of an alert's notification; its position is 0, which no handler's notification has. */
const OWN_SOURCE = "oncehook";

/** Longer than any rolling deployment leaves no process running. */
const INTERRUPTION_MS = 300_000;
const STEP_SECONDS = OVERVIEW_RANGES.day.stepSeconds;
const DAY_MS = 86_400_000;

/** What alerts are evaluated from, and the alerts that were sent. */
export class Alerts extends Area {
  /**
   * Claims the evaluation of a kind: one caller per `everyMs` succeeds, across all processes. Returns since when evaluations
   * have followed each other without an interruption of five minutes; undefined to all other callers.
   */
  async claimEvaluation(kind: AlertKind, at: Date, everyMs: number): Promise<Date | undefined> {
    const now = at.getTime();
    // A due time far ahead was written before the clock was set back.
    const { rows } = await sql<{ since_ms: number | string }>`
      INSERT INTO oncehook_alert_turns (name, next_at_ms, since_ms) VALUES (${kind}, ${now + everyMs}, ${now})
      ON CONFLICT (name) DO UPDATE SET next_at_ms = excluded.next_at_ms,
        since_ms = CASE
          WHEN oncehook_alert_turns.next_at_ms < ${now - INTERRUPTION_MS} OR oncehook_alert_turns.since_ms > ${now}
          THEN excluded.since_ms ELSE oncehook_alert_turns.since_ms END
      WHERE oncehook_alert_turns.next_at_ms <= ${now}
        OR oncehook_alert_turns.next_at_ms > ${now + 2 * everyMs}
      RETURNING since_ms`.execute(this.database.write);
    return rows[0] === undefined ? undefined : new Date(Number(rows[0].since_ms));
  }

  /** Adds callbacks that came just before `at`, all of them or none. */
  async addArrivals(at: Date, added: readonly Arrival[]): Promise<void> {
    if (added.length === 0) return;
    const now = at.getTime();
    // One order for all processes prevents deadlocks on the rows of several types.
    const sorted = added.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    await this.database.transact(async (query) => {
      for (const { source, eventType, count } of sorted) {
        // Without a condition SQLite would read ON as part of a join.
        await sql`INSERT INTO oncehook_arrival_days AS stored (source, event_type, day, count, longest_gap_ms, last_ms)
          SELECT ${source}, ${eventType}, ${Math.floor(now / DAY_MS)}, ${count},
            ${now} - coalesce(max(last_ms), ${now}), ${now}
          FROM oncehook_arrival_days WHERE source = ${source} AND event_type = ${eventType}
          ON CONFLICT (source, event_type, day) DO UPDATE SET
            count = stored.count + excluded.count,
            longest_gap_ms = CASE WHEN excluded.longest_gap_ms > stored.longest_gap_ms
              THEN excluded.longest_gap_ms ELSE stored.longest_gap_ms END,
            last_ms = excluded.last_ms`.execute(query);
      }
    });
  }

  async listArrivals(): Promise<ArrivalDay[]> {
    const rows = await this.database.read.selectFrom("oncehook_arrival_days").selectAll().execute();
    return rows.map((row) => ({
      source: row.source,
      eventType: row.event_type,
      day: Number(row.day),
      count: Number(row.count),
      longestGapMs: Number(row.longest_gap_ms),
      lastAt: new Date(Number(row.last_ms)),
    }));
  }

  /** Deletes the days before one. */
  async deleteArrivalsBefore(day: number): Promise<void> {
    await this.database.write.deleteFrom("oncehook_arrival_days").where("day", "<", day).execute();
  }

  /** When the oldest quarter-hour began of which outcomes are kept, in seconds since the epoch. */
  async firstOutcomeSlot(): Promise<number | undefined> {
    const row = await this.database.read
      .selectFrom("oncehook_rollups")
      .select("slot")
      .where("step_seconds", "=", STEP_SECONDS)
      .orderBy("slot")
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? undefined : Number(row.slot);
  }

  /** The outcomes of the quarter-hours that begin at `from` or later and before `to`, in seconds since the epoch. */
  async outcomes(from: number, to: number): Promise<OutcomeCount[]> {
    const rows = await this.database.read
      .selectFrom("oncehook_rollups")
      .select(({ fn }) => ["source", "outcome", "slot", fn.sum<number | string>("count").as("count")])
      .where("step_seconds", "=", STEP_SECONDS)
      .where("slot", ">=", from)
      .where("slot", "<", to)
      .groupBy(["slot", "source", "outcome"])
      .execute();
    return rows.map((row) => ({ ...row, slot: Number(row.slot), count: Number(row.count) }));
  }

  /** How many exhausted failures there are by type, among `limit` of them. */
  async exhausted(limit: number): Promise<ExhaustedCounts> {
    const { rows } = await sql<{ source: string; event_type: string; count: number | string }>`
      SELECT source, event_type, count(*) AS count FROM (
        SELECT source, event_type FROM oncehook_failures WHERE state = 'exhausted' LIMIT ${limit}
      ) AS looked_at GROUP BY source, event_type ORDER BY source, event_type`.execute(this.database.read);
    const types = rows.map((row) => ({
      source: row.source,
      eventType: row.event_type,
      count: Number(row.count),
    }));
    return { types, isComplete: types.reduce((sum, { count }) => sum + count, 0) < limit };
  }

  async list(): Promise<StoredAlert[]> {
    const rows = await this.database.read.selectFrom("oncehook_alerts").selectAll().execute();
    return rows.map(toAlert);
  }

  /** Returns false and writes nothing if another process changed the alert since it was evaluated. */
  change(change: AlertChange): Promise<boolean> {
    return this.database.transact((query) => changeIn(query, change));
  }
}

const sortKey = ({ source, eventType }: Arrival) => JSON.stringify([source, eventType]);

async function changeIn(query: Database["write"], change: AlertChange): Promise<boolean> {
  const { kind, source, subject, from, message } = change;
  const at = change.notifiedAt.toISOString();
  const number = from + 1;
  const values = {
    is_open: change.isOpen ? (1 as const) : (0 as const),
    number,
    since: change.since.toISOString(),
    notified_count: change.notifiedCount,
    notified_at: at,
  };
  if (!(await isFirst())) return false;
  if (message !== undefined) {
    const event_id = ["alert", kind, source, subject, number].join("/");
    const { topic, payload } = message;
    const row = { source: OWN_SOURCE, event_id, position: 0, topic, payload: JSON.stringify(payload) };
    await query
      .insertInto("oncehook_notifications")
      .values({ ...row, created_at: at })
      .execute();
  }
  return true;

  async function isFirst(): Promise<boolean> {
    if (from === 0) {
      const { numInsertedOrUpdatedRows = 0n } = await query
        .insertInto("oncehook_alerts")
        .values({ kind, source, subject, ...values })
        .onConflict((conflict) => conflict.columns(["kind", "source", "subject"]).doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows > 0n;
    }
    const { numUpdatedRows } = await query
      .updateTable("oncehook_alerts")
      .set(values)
      .where("kind", "=", kind)
      .where("source", "=", source)
      .where("subject", "=", subject)
      .where("number", "=", from)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }
}

function toAlert(row: Selectable<AlertRow>): StoredAlert {
  return {
    kind: row.kind as AlertKind,
    source: row.source,
    subject: row.subject,
    isOpen: row.is_open === 1,
    number: row.number,
    since: new Date(row.since),
    notifiedCount: row.notified_count,
    notifiedAt: new Date(row.notified_at),
  };
}
