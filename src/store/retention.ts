import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { type EventKey, OVERVIEW_RANGES } from "../domain/index.ts";
import { Area, ROWS_PER_STEP, type TableName } from "./database.ts";

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

export interface DeletedRows {
  readonly callbacks: number;
  readonly records: number;
  readonly stale: number;
}

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
  passed?: number;
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
    let stale = await this.sweepPreparations(new Date(now.getTime() - PREPARATION_MS));
    for (const [table, column, before] of [
      ["oncehook_late_callbacks", "stored_at", callbacks],
      ["oncehook_redirect_states", "expires_at", now],
      ["oncehook_spent_states", "expires_at", now],
      ["oncehook_sessions", "expires_at", now],
      ["oncehook_rate_counters", "reset_at_ms", now.getTime()],
    ] as const)
      stale += await this.deleteInSteps(table, sql`${sql.ref(column)} < ${before}`, column);
    stale += await this.alongIds("oncehook_audit", "at", audit);
    stale += await this.alongIds("oncehook_notifications", "created_at", callbacks, { and: DELIVERED });
    stale += await this.alongIds("oncehook_attempts", "started_at", callbacks);
    stale += await this.alongIds("oncehook_bulk_replays", "started_at", callbacks, {
      and: ENDED_BEFORE_OTHERS,
    });
    stale += await this.sweepRollups(now);
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
    return this.deleteInSteps("oncehook_callbacks", where, "id", REFUSED_STEP);
  }

  /**
   * Old rows have low ids, so that callbacks need no index by time. A clock that was set forward makes rows that look young; the
   * rows after them stay until those are old.
   */
  private async alongIds(name: TableName, column: string, before: Date, walk: Walk = {}): Promise<number> {
    const [table, time] = [sql.table(name), sql.ref(column)];
    let deleted = 0;
    for (let last = walk.passed ?? 0; ; ) {
      const rows = await this.read<Aged>`SELECT id, ${time} < ${before} AS is_old FROM ${table}
        WHERE id > ${last} ORDER BY id LIMIT ${sql.lit(ROWS_PER_STEP)}`;
      const newest = rows.at(-1);
      if (newest === undefined || !rows.some(({ isOld }) => isOld)) return deleted;
      const old = sql`WHERE id > ${last} AND id <= ${newest.id} AND ${time} < ${before} ${walk.and ?? sql``}`;
      if (walk.first !== undefined) await this.write`${walk.first(old)}`;
      deleted += (await this.write`DELETE FROM ${table} ${old}`).changes;
      const isWholeStep = rows.length === ROWS_PER_STEP && rows.every(({ isOld }) => isOld);
      if (isWholeStep && walk.passed === last) walk.passed = newest.id;
      last = newest.id;
    }
  }

  /** Log entries without an event are bounded in number: any client can cause them. */
  private async sweepRefused(kept: number): Promise<number> {
    const [newest] = await this.read<{ id: number }>`SELECT id FROM oncehook_callbacks
      WHERE event_id IS NULL AND with_record = 0 ORDER BY id DESC LIMIT 1 OFFSET ${kept}`;
    if (newest === undefined) return 0;
    const where = sql`event_id IS NULL AND with_record = 0 AND id <= ${newest.id}`;
    return this.deleteInSteps("oncehook_callbacks", where, "id");
  }

  private async sweepRollups(now: Date): Promise<number> {
    let deleted = 0;
    for (const { stepSeconds, keptSeconds } of Object.values(OVERVIEW_RANGES)) {
      const before = Math.floor(now.getTime() / 1_000) - keptSeconds;
      const where = sql`step_seconds = ${stepSeconds} AND slot < ${before}`;
      deleted += await this.deleteInSteps("oncehook_rollups", where, "slot");
    }
    return deleted;
  }

  /**
   * The result of a failed event's prepare step stays as long as the failure, for its replay. So the sweep walks past the rows that
   * stay, and reads each old row once. The count keeps PostgreSQL from joining the two whole tables.
   */
  private async sweepPreparations(before: Date): Promise<number> {
    const key = sql`(p.created_at, p.event_id, p.source)`;
    let deleted = 0;
    for (let last = sql`(${new Date(0)}, ${""}, ${""})`; ; ) {
      const rows = await this.read<EventKey & { createdAt: string }>`SELECT p.created_at, p.event_id, p.source
        FROM oncehook_preparations AS p WHERE p.created_at < ${before} AND ${key} > ${last}
        ORDER BY p.created_at, p.event_id, p.source LIMIT ${sql.lit(ROWS_PER_STEP)}`;
      const newest = rows.at(-1);
      if (newest === undefined) return deleted;
      const end = sql`(${newest.createdAt}, ${newest.eventId}, ${newest.source})`;
      const { changes } = await this.write`DELETE FROM oncehook_preparations AS p
        WHERE ${key} > ${last} AND ${key} <= ${end} AND 0 =
          (SELECT count(*) FROM oncehook_failures AS f WHERE f.event_id = p.event_id AND f.source = p.source)`;
      deleted += changes;
      if (rows.length < ROWS_PER_STEP) return deleted;
      last = end;
    }
  }

  /** The id of the newest row that no longer fits. */
  private async firstBeyond(maxBytes: number): Promise<number | undefined> {
    let bytes = 0;
    for (let below: number = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = await this.read<{ id: number; refusedBytes: number }>`SELECT id, refused_bytes
        FROM oncehook_callbacks WHERE refused_bytes IS NOT NULL AND id < ${below}
        ORDER BY id DESC LIMIT ${sql.lit(ROWS_PER_STEP)}`;
      for (const row of rows) {
        bytes += row.refusedBytes;
        if (bytes > maxBytes) return row.id;
        below = row.id;
      }
      if (rows.length < ROWS_PER_STEP) return undefined;
      await nextTurn();
    }
  }
}

interface Aged {
  readonly id: number;
  readonly isOld: number | boolean;
}
