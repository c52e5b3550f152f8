import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { type EventKey, OAUTH, OVERVIEW_RANGES } from "../../domain/index.ts";
import { Area, type IdRow, ROWS_PER_STEP, type TableName } from "../database.ts";
import { mergedBelow } from "./group-blocks.ts";
import { indexCallbacks } from "./records.ts";
import { noteHandled } from "./stored-events.ts";

export interface RetentionLimits {
  /** Older rows of the callback log go. */
  readonly callbacks: Date;
  /** Older records go; without it they are kept for ever. */
  readonly records?: Date;
  /** Sources whose records stay: their events have no signed time by which an old one would be refused. Default: `oauth`. */
  readonly untimedSources?: readonly string[];
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
/** A block of originals takes kilobytes, and at most about one megabyte. */
const ORIGINALS_STEP = 100;
/** A preparation whose event never came back: its authorization code has expired long since (RFC 6749 §4.1.2). */
const PREPARATION_MS = 7 * 86_400_000;
/** A tenant that has sent nothing for so long is out of the list of uses. */
const TENANT_USE_MS = 90 * 86_400_000;
/** An operator may need the audit log long after the action. */
const AUDIT_MS = 365 * 86_400_000;

/** Only a record detects a replay of these sources. Other events whose record may be deleted are refused by their timestamp. */
const notOf = (sources: readonly string[]) =>
  sql.join(
    // With those of its tenants and of its handlers that have a name: `github/acme`, `github#audit`.
    sources.map(
      (source) =>
        sql`AND source <> ${source} AND substr(source, 1, ${sql.lit(source.length + 1)}) NOT IN (${`${source}#`}, ${`${source}/`})`,
    ),
    sql` `,
  );

/** Those with a delivery that waits or has failed stay. The count keeps PostgreSQL from joining the two whole tables. */
const DELIVERED = sql`AND fanned_out_at IS NOT NULL AND 0 = (SELECT count(*) FROM oncehook_deliveries AS d
  WHERE d.notification_id = oncehook_notifications.id AND d.state <> 'delivered')`;

const ENDED = sql`AND ended_at IS NOT NULL`;

interface Walk {
  readonly isStopping: () => boolean;
  readonly and?: RawBuilder<unknown>;
  /** SQLite would give the newest row's id, which other rows name or a walk has passed, to the next one. */
  readonly keepsNewest?: boolean;
  readonly first?: (deleted: RawBuilder<unknown>) => Promise<void>;
  /** The rows up to this id that are left stay for ever: the next walk begins after it. */
  readonly passed?: { id: number };
}

export class Retention extends Area {
  /** For as long as its process: the records of redirects only grow in number. */
  private readonly passedRecords = { id: 0 };
  private readonly passedReplays = { id: 0 };

  /** @param isStopping asked before each step: the next sweep continues */
  async sweep(limits: RetentionLimits, isStopping = () => false): Promise<DeletedRows> {
    const { callbacks, records: recordsBefore, now } = limits;
    const kept = { isStopping, keepsNewest: true };
    const old = await this.alongIds("oncehook_callbacks", "received_at", callbacks, kept);
    const timed = notOf(limits.untimedSources ?? [OAUTH]);
    const first = async (deleted: RawBuilder<unknown>) => {
      await noteHandled(this.database, deleted, now);
      await this.write`${indexCallbacks(deleted)}`;
    };
    const ofRecords = { ...kept, and: timed, first, passed: this.passedRecords };
    const records = recordsBefore ? await this.alongIds("oncehook_records", "created_at", recordsBefore, ofRecords) : 0;
    // An earlier result stays as long as its record: a row is younger than that.
    const replays = recordsBefore ?? new Date(0);
    const audit = new Date(Math.min(callbacks.getTime(), now.getTime() - AUDIT_MS));
    let stale = await this.sweepPreparations(new Date(now.getTime() - PREPARATION_MS), isStopping);
    // An event may come late for as long as its duplicates are known, or its callback is.
    const untouched = new Date(Math.min(callbacks.getTime(), (recordsBefore ?? callbacks).getTime()));
    for (const [table, column, before] of [
      ["oncehook_order_keys", "touched_at", untouched],
      ["oncehook_late_callbacks", "stored_at", callbacks],
      ["oncehook_redirect_states", "expires_at", now],
      ["oncehook_spent_states", "expires_at", now],
      ["oncehook_sessions", "expires_at", now],
      ["oncehook_tenant_secret_uses", "last_used_at", new Date(now.getTime() - TENANT_USE_MS)],
      ["oncehook_tenant_secrets", "seen_at", new Date(now.getTime() - TENANT_USE_MS)],
      ["oncehook_rate_counters", "reset_at_ms", now.getTime()],
    ] as const)
      stale += await this.deleteInSteps(table, sql`${sql.ref(column)} < ${before}`, column, { isStopping });
    for (const [table, column, before, walk] of [
      ["oncehook_audit", "at", audit, {}],
      ["oncehook_notifications", "created_at", callbacks, { and: DELIVERED }],
      ["oncehook_attempts", "started_at", callbacks, {}],
      ["oncehook_recorded_runs", "ended_at", callbacks, {}],
      ["oncehook_event_replays", "replayed_at", replays, { keepsNewest: true, and: timed, passed: this.passedReplays }],
      ["oncehook_bulk_replays", "started_at", callbacks, { keepsNewest: true, and: ENDED }],
      ["oncehook_backfills", "started_at", callbacks, { keepsNewest: true, and: ENDED }],
      ["oncehook_unreplayed_events", "at", callbacks, {}],
    ] as const)
      stale += await this.alongIds(table, column, before, { isStopping, ...walk });
    stale += await this.sweepRollups(now, isStopping);
    stale += await this.sweepOriginals(now, isStopping);
    const refused = await this.sweepRefused(limits.refusedRowsKept, isStopping);
    const trimmed = limits.refusedBytes === undefined ? 0 : await this.trimRefused(limits.refusedBytes, isStopping);
    return { callbacks: old + refused + trimmed, records, stale };
  }

  /** Deletes the oldest log entries of refused callbacks until all take at most so many bytes. @returns how many */
  async trimRefused(maxBytes: number, isStopping = () => false): Promise<number> {
    const newest = await this.firstBeyond(maxBytes, isStopping);
    if (newest === undefined) return 0;
    const where = sql`refused_bytes IS NOT NULL AND id <= ${newest}`;
    return this.deleteInSteps("oncehook_callbacks", where, "id", { step: REFUSED_STEP, isStopping });
  }

  /**
   * Old rows have low ids, so that callbacks need no index by time. A clock that was set forward makes rows that look young; the
   * rows after them stay until those are old.
   */
  private async alongIds(name: TableName, column: string, before: Date, walk: Walk): Promise<number> {
    const [table, time] = [sql.table(name), sql.ref(column)];
    const { isStopping, passed } = walk;
    let deleted = 0;
    for (let last = passed?.id ?? 0; !isStopping(); ) {
      const isFormer = walk.keepsNewest ? sql`AND id < (SELECT max(id) FROM ${table} WHERE id > ${last})` : sql``;
      const rows = await this.read<
        IdRow & { isOld: number | boolean }
      >`SELECT id, ${time} < ${before} AS is_old FROM ${table}
        WHERE id > ${last} ${isFormer} ORDER BY id LIMIT ${sql.lit(ROWS_PER_STEP)}`;
      const newest = rows.at(-1);
      if (newest === undefined || !rows.some(({ isOld }) => isOld)) break;
      const old = sql`WHERE id > ${last} AND id <= ${newest.id} AND ${time} < ${before} ${walk.and ?? sql``}`;
      await walk.first?.(old);
      deleted += (await this.write`DELETE FROM ${table} ${old}`).changes;
      const isWholeStep = rows.length === ROWS_PER_STEP && rows.every(({ isOld }) => isOld);
      if (isWholeStep && passed?.id === last) passed.id = newest.id;
      last = newest.id;
    }
    return deleted;
  }

  /** Log entries without an event are bounded in number: any client can cause them. */
  private async sweepRefused(kept: number, isStopping: () => boolean): Promise<number> {
    const [newest] = await this.read<IdRow>`SELECT id FROM oncehook_callbacks
      WHERE event_id IS NULL AND with_record = 0 ORDER BY id DESC LIMIT 1 OFFSET ${kept}`;
    if (newest === undefined) return 0;
    const where = sql`event_id IS NULL AND with_record = 0 AND id <= ${newest.id}`;
    return this.deleteInSteps("oncehook_callbacks", where, "id", { isStopping });
  }

  /** SQLite would give the newest row's id to the next one, and a walk along the ids has passed it. */
  private async sweepOriginals(now: Date, isStopping: () => boolean): Promise<number> {
    const [newest] = await this.read<IdRow>`SELECT id FROM oncehook_originals ORDER BY id DESC LIMIT 1`;
    const isOver = sql`keep_until < ${now} AND id < ${newest?.id ?? 0}`;
    const steps = { step: ORIGINALS_STEP, isStopping };
    const merged = await this.deleteInSteps(
      "oncehook_originals",
      sql`is_merged = 1 AND ${isOver}`,
      "keep_until",
      steps,
    );
    const small = sql`is_merged = 0 AND id >= ${await mergedBelow(this.database)} AND ${isOver}`;
    return merged + (await this.deleteInSteps("oncehook_originals", small, "id", steps));
  }

  private async sweepRollups(now: Date, isStopping: () => boolean): Promise<number> {
    let deleted = 0;
    for (const { stepSeconds, keptSeconds } of Object.values(OVERVIEW_RANGES)) {
      const before = Math.floor(now.getTime() / 1_000) - keptSeconds;
      const where = sql`step_seconds = ${stepSeconds} AND slot < ${before}`;
      deleted += await this.deleteInSteps("oncehook_rollups", where, "slot", { isStopping });
    }
    return deleted;
  }

  /**
   * The result of a failed event's prepare step stays as long as the failure, for its replay. So the sweep walks past the rows that
   * stay, and reads each old row once. The count keeps PostgreSQL from joining the two whole tables.
   */
  private async sweepPreparations(before: Date, isStopping: () => boolean): Promise<number> {
    const key = sql`(p.created_at, p.event_id, p.source)`;
    let deleted = 0;
    for (let last = sql`(${new Date(0)}, ${""}, ${""})`; !isStopping(); ) {
      const rows = await this.read<EventKey & { createdAt: string }>`SELECT p.created_at, p.event_id, p.source
        FROM oncehook_preparations AS p WHERE p.created_at < ${before} AND ${key} > ${last}
        ORDER BY p.created_at, p.event_id, p.source LIMIT ${sql.lit(ROWS_PER_STEP)}`;
      const newest = rows.at(-1);
      if (newest === undefined) break;
      const end = sql`(${newest.createdAt}, ${newest.eventId}, ${newest.source})`;
      const { changes } = await this.write`DELETE FROM oncehook_preparations AS p
        WHERE ${key} > ${last} AND ${key} <= ${end} AND 0 =
          (SELECT count(*) FROM oncehook_failures AS f WHERE f.event_id = p.event_id AND f.source = p.source)`;
      deleted += changes;
      if (rows.length < ROWS_PER_STEP) break;
      last = end;
    }
    return deleted;
  }

  /** The id of the newest row that no longer fits. */
  private async firstBeyond(maxBytes: number, isStopping: () => boolean): Promise<number | undefined> {
    let bytes = 0;
    for (let below: number = Number.MAX_SAFE_INTEGER; !isStopping(); ) {
      const rows = await this.read<{ id: number; refusedBytes: number }>`SELECT id, refused_bytes
        FROM oncehook_callbacks WHERE refused_bytes IS NOT NULL AND id < ${below}
        ORDER BY id DESC LIMIT ${sql.lit(ROWS_PER_STEP)}`;
      for (const row of rows) {
        bytes += row.refusedBytes;
        if (bytes > maxBytes) return row.id;
        below = row.id;
      }
      if (rows.length < ROWS_PER_STEP) break;
      await nextTurn();
    }
    return undefined;
  }
}
