import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { OVERVIEW_RANGES } from "../domain/index.ts";
import { isoTime } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import type { StoredInteger, StoredTime, Tables } from "./tables.ts";

/** The rows that the retention job keeps. */
export interface RetentionLimits {
  /** Older rows of the callback log go. */
  readonly callbacks: Date;
  /** Older records go; without it they are kept for ever. */
  readonly records?: Date;
  /** How many rows of the callback log may belong to no event: any client can send such requests. */
  readonly refusedRowsKept: number;
  /** How many bytes they may take; without it there is no such bound. */
  readonly refusedBytes?: number;
  readonly now: Date;
}

/** How much the retention job deleted. */
export interface DeletedRows {
  readonly callbacks: number;
  readonly records: number;
  readonly stale: number;
}

/** Rows that one statement deletes, so that no callback waits long for the writer. */
const STEP = 1_000;
/** A refused callback may take tens of kilobytes, so that fewer of them go in a step. */
const REFUSED_STEP = 100;
/** A preparation whose event never came back: its authorization code has expired long since (RFC 6749 §4.1.2). */
const PREPARATION_MS = 7 * 86_400_000;
/** An operator may need the audit log long after the action. */
const AUDIT_MS = 365 * 86_400_000;

/**
 * A redirect carries no time, so that its record alone detects a replay: the records of `oauth` stay. Other events whose record may
 * be deleted are refused by their timestamp.
 */
const NOT_OAUTH = sql`AND source <> 'oauth'`;

/**
 * Notifications with a delivery that waits or has failed stay. The count keeps PostgreSQL from joining the two whole tables; it
 * looks up the deliveries of each old row.
 */
const DELIVERED = sql`AND fanned_out_at IS NOT NULL AND 0 = (SELECT count(*) FROM oncehook_deliveries AS d
  WHERE d.notification_id = oncehook_notifications.id AND d.state <> 'delivered')`;

/** The newest one stays too: SQLite would give its id, which failures name, to the next one. */
const ENDED_BEFORE_OTHERS = sql`AND ended_at IS NOT NULL AND id < (SELECT max(id) FROM oncehook_bulk_replays)`;

/** The log entries of deleted records are no longer found through them, and from then on by the index of the others. */
const indexCallbacks = (deleted: RawBuilder<unknown>) =>
  sql`UPDATE oncehook_callbacks SET with_record = 0 WHERE id IN (SELECT callback_id FROM oncehook_records ${deleted})`;

interface Walk {
  readonly and?: RawBuilder<unknown>;
  readonly first?: (deleted: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** The rows up to this id that are left stay for ever: the next walk begins after it. */
  passed?: StoredInteger;
}

/** Deletes old rows, in bounded steps. */
export class Retention extends Area {
  /** For as long as its process: the records of redirects only grow in number. */
  private readonly recordWalk: Walk = { and: NOT_OAUTH, first: indexCallbacks, passed: 0 };

  async sweep(limits: RetentionLimits): Promise<DeletedRows> {
    const { callbacks, now } = limits;
    const old = await this.alongIds("oncehook_callbacks", "received_at", callbacks);
    const records =
      limits.records === undefined
        ? 0
        : await this.alongIds("oncehook_records", "created_at", limits.records, this.recordWalk);
    const audit = new Date(Math.min(callbacks.getTime(), now.getTime() - AUDIT_MS));
    const stale =
      (await this.byTime("oncehook_late_callbacks", "oldest", "stored_at", callbacks.toISOString())) +
      (await this.sweepPreparations(new Date(now.getTime() - PREPARATION_MS))) +
      (await this.byTime("oncehook_redirect_states", "state_sha256", "expires_at", now.toISOString())) +
      (await this.byTime("oncehook_spent_states", "state_sha256", "expires_at", now.toISOString())) +
      (await this.byTime("oncehook_sessions", "id_sha256", "expires_at", now.toISOString())) +
      (await this.alongIds("oncehook_audit", "at", audit)) +
      (await this.byTime("oncehook_rate_counters", "key", "reset_at_ms", now.getTime())) +
      (await this.alongIds("oncehook_notifications", "created_at", callbacks, { and: DELIVERED })) +
      (await this.alongIds("oncehook_attempts", "started_at", callbacks)) +
      (await this.alongIds("oncehook_bulk_replays", "started_at", callbacks, { and: ENDED_BEFORE_OTHERS })) +
      (await this.sweepRollups(now));
    const refused =
      (await this.sweepRefused(limits.refusedRowsKept)) +
      (limits.refusedBytes === undefined ? 0 : await this.trimRefused(limits.refusedBytes));
    return { callbacks: old + refused, records, stale };
  }

  /**
   * Deletes the oldest log entries of refused callbacks until all of them take at most so many bytes. Both walks read their index
   * alone.
   * @returns how many rows it deleted
   */
  async trimRefused(maxBytes: number): Promise<number> {
    const newest = await this.firstBeyond(maxBytes);
    if (newest === undefined) return 0;
    const where = sql`refused_bytes IS NOT NULL AND id <= ${newest}`;
    const rows = { table: "oncehook_callbacks", key: ["id"], where, orderBy: "id" } as const;
    return deleteInSteps(this.database, { ...rows, step: REFUSED_STEP, skipLocked: true });
  }

  /**
   * Old rows have low ids, so that callbacks need no index by time. A clock that was set forward makes rows that look young; the
   * rows after them stay until those are old.
   */
  private async alongIds(name: keyof Tables, column: string, before: Date, walk: Walk = {}): Promise<number> {
    const { read, write } = this.database;
    const [table, time] = [sql.table(name), sql.ref(column)];
    const limit = before.toISOString();
    let deleted = 0;
    for (let last: StoredInteger = walk.passed ?? 0; ; ) {
      const { rows } = await sql<Aged>`SELECT id, ${time} < ${limit} AS is_old FROM ${table}
        WHERE id > ${last} ORDER BY id LIMIT ${sql.lit(STEP)}`.execute(read);
      const newest = rows.at(-1);
      if (newest === undefined || !rows.some((row) => Boolean(row.is_old))) return deleted;
      const old = sql`WHERE id > ${last} AND id <= ${newest.id} AND ${time} < ${limit} ${walk.and ?? sql``}`;
      await walk.first?.(old).execute(write);
      const done = await sql`DELETE FROM ${table} ${old}`.execute(write);
      deleted += Number(done.numAffectedRows ?? 0n);
      const isWholeStep = rows.length === STEP && rows.every((row) => Boolean(row.is_old));
      if (isWholeStep && walk.passed === last) walk.passed = newest.id;
      last = newest.id;
    }
  }

  private byTime(table: keyof Tables, key: string, column: string, before: string | number): Promise<number> {
    const where = sql`${sql.ref(column)} < ${before}`;
    return deleteInSteps(this.database, { table, key: [key], where, orderBy: column });
  }

  /** Log entries without an event are bounded in number: any client can cause them. */
  private async sweepRefused(kept: number): Promise<number> {
    const { rows } = await sql<{ id: StoredInteger }>`SELECT id FROM oncehook_callbacks
      WHERE event_id IS NULL AND with_record = 0 ORDER BY id DESC LIMIT 1 OFFSET ${kept}`.execute(
      this.database.read,
    );
    const [newest] = rows;
    if (newest === undefined) return 0;
    const where = sql`event_id IS NULL AND with_record = 0 AND id <= ${newest.id}`;
    return deleteInSteps(this.database, { table: "oncehook_callbacks", key: ["id"], where, orderBy: "id" });
  }

  private async sweepRollups(now: Date): Promise<number> {
    const key = ["step_seconds", "slot", "source", "outcome", "bucket"];
    let deleted = 0;
    for (const { stepSeconds, keptSeconds } of Object.values(OVERVIEW_RANGES)) {
      const before = Math.floor(now.getTime() / 1_000) - keptSeconds;
      const where = sql`step_seconds = ${stepSeconds} AND slot < ${before}`;
      deleted += await deleteInSteps(this.database, {
        table: "oncehook_rollups",
        key,
        where,
        orderBy: "slot",
      });
    }
    return deleted;
  }

  /**
   * The result of a failed event's prepare step stays as long as the failure, for its replay. So the sweep walks past the rows that
   * stay, and reads each old row once. The count keeps PostgreSQL from joining the two whole tables.
   */
  private async sweepPreparations(before: Date): Promise<number> {
    const { read, write } = this.database;
    const key = sql`(p.created_at, p.event_id, p.source)`;
    const page = (last: RawBuilder<unknown>) => sql<PreparationKey>`SELECT p.created_at, p.event_id, p.source
      FROM oncehook_preparations AS p WHERE p.created_at < ${before.toISOString()} AND ${key} > ${last}
      ORDER BY p.created_at, p.event_id, p.source LIMIT ${sql.lit(STEP)}`;
    let deleted = 0;
    for (let last = tupleOf({ created_at: new Date(0), event_id: "", source: "" }); ; ) {
      const { rows } = await page(last).execute(read);
      const newest = rows.at(-1);
      if (newest === undefined) return deleted;
      const end = tupleOf(newest);
      const { numAffectedRows = 0n } = await sql`DELETE FROM oncehook_preparations AS p
        WHERE ${key} > ${last} AND ${key} <= ${end} AND 0 =
          (SELECT count(*) FROM oncehook_failures AS f WHERE f.event_id = p.event_id AND f.source = p.source)`.execute(
        write,
      );
      deleted += Number(numAffectedRows);
      if (rows.length < STEP) return deleted;
      last = end;
    }
  }

  /** The id of the newest row that no longer fits. */
  private async firstBeyond(maxBytes: number): Promise<StoredInteger | undefined> {
    let bytes = 0;
    for (let below: StoredInteger = Number.MAX_SAFE_INTEGER; ; ) {
      const { rows } = await sql<{ id: StoredInteger; refused_bytes: StoredInteger }>`SELECT id, refused_bytes
        FROM oncehook_callbacks WHERE refused_bytes IS NOT NULL AND id < ${below}
        ORDER BY id DESC LIMIT ${sql.lit(STEP)}`.execute(this.database.read);
      for (const row of rows) {
        bytes += Number(row.refused_bytes);
        if (bytes > maxBytes) return row.id;
        below = row.id;
      }
      if (rows.length < STEP) return undefined;
      await nextTurn();
    }
  }
}

interface Aged {
  readonly id: StoredInteger;
  readonly is_old: number | boolean;
}

interface PreparationKey {
  readonly created_at: StoredTime;
  readonly event_id: string;
  readonly source: string;
}

function tupleOf({ created_at, event_id, source }: PreparationKey): RawBuilder<unknown> {
  return sql`(${isoTime(created_at)}, ${event_id}, ${source})`;
}

interface DeletedStep {
  readonly table: keyof Tables;
  readonly key: readonly string[];
  readonly where: RawBuilder<unknown>;
  /** The order of an index. */
  readonly orderBy: string;
  readonly step?: number;
  /** Leaves rows to other processes that delete them at the same time. */
  readonly skipLocked?: boolean;
}

/** Deletes rows in steps with a turn of the event loop between. @returns how many */
export async function deleteInSteps(
  { dialect, write }: Database,
  { table, key, where, orderBy, step = STEP, skipLocked = false }: DeletedStep,
): Promise<number> {
  const [rows, columns] = [sql.table(table), sql.join(key.map((name) => sql.ref(name)))];
  const unlocked = sql.raw(skipLocked && dialect === "postgres" ? "FOR UPDATE SKIP LOCKED" : "");
  const statement = sql`DELETE FROM ${rows} WHERE ${where} AND (${columns}) IN
    (SELECT ${columns} FROM ${rows} WHERE ${where} ORDER BY ${sql.ref(orderBy)} LIMIT ${sql.lit(step)} ${unlocked})`;
  for (let deleted = 0; ; ) {
    const { numAffectedRows = 0n } = await statement.execute(write);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BigInt(step)) return deleted;
    await nextTurn();
  }
}
