import { type Selectable, sql } from "kysely";
import type { JsonObject } from "../domain/index.ts";
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
  /** The number of the state that was judged; 0 where there was none. */
  readonly from: number;
  readonly isOpen: boolean;
  readonly since: Date;
  readonly notifiedCount: number;
  readonly notifiedAt: Date;
  /** Written to the outbox in the same transaction. */
  readonly message?: { readonly topic: string; readonly payload: JsonObject };
}

export interface ArrivalKey {
  readonly source: string;
  readonly subject: string;
}

export interface Arrival extends ArrivalKey {
  readonly count: number;
}

/** Between which slots something has come. */
export interface ArrivalSubject extends ArrivalKey {
  readonly firstSlot: number;
  readonly lastSlot: number;
}

export interface SlotCount {
  readonly slot: number;
  readonly count: number;
}

export interface ExhaustedCounts {
  readonly types: readonly { readonly source: string; readonly eventType: string; readonly count: number }[];
  /** False where there were more than were looked at, so that a type that is missing may still have some. */
  readonly isComplete: boolean;
}

/** Alerts are notifications of this source; their position in the outbox is 0, of an event that does not exist. */
const OWN_SOURCE = "oncehook";
const COUNTS = "oncehook_arrivals";
const SUBJECTS = "oncehook_arrival_subjects";
/** Slots of one subject deleted at a time, so that no callback waits long for the writer. */
const STEP = 1_000;

/** The counts that alerts are computed from, in slots of five minutes, and the notifications that were sent. */
export class Alerts extends Area {
  /** Returns true to one caller per `everyMs`, across all processes; a turn far ahead is of a clock that was set back since. */
  async claimEvaluation(now: Date, everyMs: number): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`INSERT INTO oncehook_alert_turns (name, next_at_ms)
      VALUES ('judge', ${now.getTime() + everyMs})
      ON CONFLICT (name) DO UPDATE SET next_at_ms = excluded.next_at_ms
      WHERE oncehook_alert_turns.next_at_ms <= ${now.getTime()}
        OR oncehook_alert_turns.next_at_ms > ${now.getTime() + 2 * everyMs}`.execute(this.database.write);
    return numAffectedRows > 0n;
  }

  /** Adds to the counts of a slot, all of them or none. */
  async addArrivals(slot: number, added: readonly Arrival[]): Promise<void> {
    if (added.length === 0) return;
    // One order for all processes, so that no two of them wait for each other's rows.
    const sorted = added.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    await this.database.transact(async (query) => {
      await query
        .insertInto(SUBJECTS)
        .values(sorted.map(({ source, subject }) => ({ source, subject, first_slot: slot, last_slot: slot })))
        .onConflict((conflict) =>
          conflict.columns(["source", "subject"]).doUpdateSet({
            first_slot: sql`CASE WHEN excluded.first_slot < ${sql.ref(`${SUBJECTS}.first_slot`)}
              THEN excluded.first_slot ELSE ${sql.ref(`${SUBJECTS}.first_slot`)} END`,
            last_slot: sql`CASE WHEN excluded.last_slot > ${sql.ref(`${SUBJECTS}.last_slot`)}
              THEN excluded.last_slot ELSE ${sql.ref(`${SUBJECTS}.last_slot`)} END`,
          }),
        )
        .execute();
      await query
        .insertInto(COUNTS)
        .values(sorted.map(({ source, subject, count }) => ({ source, subject, slot, count })))
        .onConflict((conflict) =>
          conflict
            .columns(["source", "subject", "slot"])
            .doUpdateSet({ count: sql`${sql.ref(`${COUNTS}.count`)} + excluded.count` }),
        )
        .execute();
    });
  }

  async subjects(): Promise<ArrivalSubject[]> {
    const rows = await this.database.read.selectFrom(SUBJECTS).selectAll().execute();
    return rows.map((row) => ({
      source: row.source,
      subject: row.subject,
      firstSlot: Number(row.first_slot),
      lastSlot: Number(row.last_slot),
    }));
  }

  /** The slots with arrivals, from `from` up to but not including `to`. */
  async arrivals({ source, subject }: ArrivalKey, from: number, to: number): Promise<SlotCount[]> {
    const rows = await this.database.read
      .selectFrom(COUNTS)
      .select(["slot", "count"])
      .where("source", "=", source)
      .where("subject", "=", subject)
      .where("slot", ">=", from)
      .where("slot", "<", to)
      .execute();
    return rows.map((row) => ({ slot: Number(row.slot), count: Number(row.count) }));
  }

  /** Deletes the counts before a slot; the counts go first, since a deleted subject would leave them behind. */
  async deleteArrivalsBefore(before: number): Promise<void> {
    for (const subject of await this.subjects()) {
      const { firstSlot } = subject;
      if (firstSlot >= before) continue;
      for (let from = firstSlot; from < before; from += STEP) {
        await deleteSlots(this.database, subject, from, Math.min(from + STEP, before));
      }
      await trimSubject(this.database, subject, before);
    }
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

const sortKey = ({ source, subject }: ArrivalKey) => JSON.stringify([source, subject]);

async function deleteSlots({ write }: Database, key: ArrivalKey, from: number, to: number): Promise<void> {
  await write
    .deleteFrom(COUNTS)
    .where("source", "=", key.source)
    .where("subject", "=", key.subject)
    .where("slot", ">=", from)
    .where("slot", "<", to)
    .execute();
}

/** Of what comes no more nothing is left, not even that it came. */
async function trimSubject({ write }: Database, key: ArrivalKey, before: number): Promise<void> {
  await write
    .deleteFrom(SUBJECTS)
    .where("source", "=", key.source)
    .where("subject", "=", key.subject)
    .where("last_slot", "<", before)
    .execute();
  await write
    .updateTable(SUBJECTS)
    .set({ first_slot: before })
    .where("source", "=", key.source)
    .where("subject", "=", key.subject)
    .where("first_slot", "<", before)
    .execute();
}

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
