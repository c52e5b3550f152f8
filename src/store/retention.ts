import { setImmediate as nextTurn } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import { isoTime } from "./column-values.ts";
import type { Database } from "./database.ts";
import { sweepRollups } from "./rollups.ts";
import type { StoredInteger, StoredTime } from "./tables.ts";

const STEP = 1_000;
/** A preparation whose event never came back: an authorization code is long dead by then (RFC 6749 §4.1.2). */
const PREPARATION_MS = 7 * 86_400_000;
/** Who did what is asked when something has come to light, which is commonly long after. */
const AUDIT_MS = 365 * 86_400_000;

/**
 * A redirect says nothing of when it was made, so that its record alone tells a replay: those of `oauth` stay. Other
 * events whose record may be gone are refused by their timestamp.
 */
const NOT_OAUTH = sql`AND source <> 'oauth'`;

/**
 * What is still to be delivered, or waits for a person, stays. The count keeps PostgreSQL from joining the two tables
 * whole; it looks the deliveries of each old row up.
 */
const DELIVERED = sql`AND spread_at IS NOT NULL AND 0 = (SELECT count(*) FROM oncehook_deliveries AS d
  WHERE d.notification_id = oncehook_notifications.id AND d.state <> 'delivered')`;

/** What runs or is paused stays, and the newest: on SQLite another one would get its id, which failures name. */
const ENDED_BEFORE_OTHERS = sql`AND ended_at IS NOT NULL AND id < (SELECT max(id) FROM oncehook_bulk_replays)`;

/** The log rows of records that go are found through them no more, and from then on by the index of the others. */
const indexCallbacks = (going: RawBuilder<unknown>) =>
  sql`UPDATE oncehook_callbacks SET with_record = 0 WHERE id IN (SELECT callback_id FROM oncehook_records ${going})`;

interface Walk {
  readonly and?: RawBuilder<unknown>;
  readonly first?: (going: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** Up to here, what is left stays for ever: the next walk begins behind it. */
  passed?: number | string;
}

/** Of each store, for as long as its process: the records of redirects only grow in number. */
const recordWalks = new WeakMap<Database, Walk>();

function oldRecords(database: Database): Walk {
  const walk = recordWalks.get(database) ?? { and: NOT_OAUTH, first: indexCallbacks, passed: 0 };
  recordWalks.set(database, walk);
  return walk;
}

/** Deletes in steps of a thousand rows, so that no callback waits long for the writer. */
export async function sweep(database: Database, limits: RetentionLimits): Promise<DeletedRows> {
  const { callbacks, now } = limits;
  const old = await alongIds(database, "oncehook_callbacks", "received_at", callbacks);
  const records =
    limits.records === undefined
      ? 0
      : await alongIds(database, "oncehook_records", "created_at", limits.records, oldRecords(database));
  const stale =
    (await byTime(database, "oncehook_late_callbacks", "oldest", "stored_at", callbacks.toISOString())) +
    (await sweepPreparations(database, new Date(now.getTime() - PREPARATION_MS))) +
    (await byTime(database, "oncehook_redirect_states", "state_sha256", "expires_at", now.toISOString())) +
    (await byTime(database, "oncehook_spent_states", "state_sha256", "expires_at", now.toISOString())) +
    (await byTime(database, "oncehook_sessions", "id_sha256", "expires_at", now.toISOString())) +
    (await alongIds(database, "oncehook_audit", "at", earlier(callbacks, now.getTime() - AUDIT_MS))) +
    (await byTime(database, "oncehook_rate_counters", "key", "reset_at_ms", now.getTime())) +
    (await alongIds(database, "oncehook_notifications", "created_at", callbacks, { and: DELIVERED })) +
    (await alongIds(database, "oncehook_attempts", "began_at", callbacks)) +
    (await alongIds(database, "oncehook_bulk_replays", "begun_at", callbacks, { and: ENDED_BEFORE_OTHERS })) +
    (await sweepRollups(database, now));
  const strangers =
    (await sweepRefused(database, limits.refusedRowsKept)) +
    (limits.refusedBytes === undefined ? 0 : await trimRefused(database, limits.refusedBytes));
  return { callbacks: old + strangers, records, stale };
}

/** What is kept for longer than its own time is kept for the longer one. */
function earlier(limit: Date, time: number): Date {
  return new Date(Math.min(limit.getTime(), time));
}

/**
 * Rows are numbered as they come, so that the old ones lie at the low end: no index by time has to be kept for each
 * callback. A clock that was set forward makes rows that look young, and that hold up those behind them until then.
 */
async function alongIds(
  { read, write }: Database,
  name: string,
  column: string,
  before: Date,
  walk: Walk = {},
): Promise<number> {
  const [table, time] = [sql.table(name), sql.ref(column)];
  const limit = before.toISOString();
  let deleted = 0;
  for (let last: number | string = walk.passed ?? 0; ; ) {
    const { rows } = await sql<{
      id: number | string;
      is_old: number | boolean;
    }>`SELECT id, ${time} < ${limit} AS is_old
      FROM ${table} WHERE id > ${last} ORDER BY id LIMIT ${sql.lit(STEP)}`.execute(read);
    const newest = rows.at(-1);
    if (newest === undefined || !rows.some((row) => Boolean(row.is_old))) return deleted;
    const going = sql`WHERE id > ${last} AND id <= ${newest.id} AND ${time} < ${limit} ${walk.and ?? sql``}`;
    await walk.first?.(going).execute(write);
    const done = await sql`DELETE FROM ${table} ${going}`.execute(write);
    deleted += Number(done.numAffectedRows ?? 0n);
    const isWholeStep = rows.length === STEP && rows.every((row) => Boolean(row.is_old));
    if (isWholeStep && walk.passed === last) walk.passed = newest.id;
    last = newest.id;
  }
}

function byTime(
  database: Database,
  table: string,
  id: string,
  column: string,
  before: string | number,
): Promise<number> {
  const [rows, key, time] = [sql.table(table), sql.ref(id), sql.ref(column)];
  return repeat(
    database,
    sql`DELETE FROM ${rows} WHERE ${time} < ${before} AND ${key} IN
      (SELECT ${key} FROM ${rows} WHERE ${time} < ${before} ORDER BY ${time} LIMIT ${sql.lit(STEP)})`,
  );
}

/** The log rows of requests that never came to an event are bounded in number: anybody can make them. */
async function sweepRefused(database: Database, kept: number): Promise<number> {
  const newestToGo = await sql<{ id: number | string }>`SELECT id FROM oncehook_callbacks
    WHERE event_id IS NULL AND with_record = 0 ORDER BY id DESC LIMIT 1 OFFSET ${kept}`.execute(
    database.read,
  );
  const [row] = newestToGo.rows;
  if (row === undefined) return 0;
  return repeat(
    database,
    sql`DELETE FROM oncehook_callbacks WHERE id IN (SELECT id FROM oncehook_callbacks
      WHERE event_id IS NULL AND with_record = 0 AND id <= ${row.id} ORDER BY id LIMIT ${sql.lit(STEP)})`,
  );
}

interface PreparationKey {
  readonly created_at: StoredTime;
  readonly event_id: string;
  readonly source: string;
}

/**
 * The result of a failed event's prepare step stays as long as the failure: a replay needs it, however late it comes.
 * So the sweep walks past the rows that stay, and looks at each old row once. The count keeps PostgreSQL from
 * joining the two tables whole.
 */
async function sweepPreparations({ read, write }: Database, before: Date): Promise<number> {
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

function tupleOf({ created_at, event_id, source }: PreparationKey): RawBuilder<unknown> {
  return sql`(${isoTime(created_at)}, ${event_id}, ${source})`;
}

async function repeat({ write }: Database, step: RawBuilder<unknown>): Promise<number> {
  for (let deleted = 0; ; ) {
    const { numAffectedRows = 0n } = await step.execute(write);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BigInt(STEP)) return deleted;
  }
}

/** What the retention job keeps. */
export interface RetentionLimits {
  /** Older rows of the callback log go. */
  readonly callbacks: Date;
  /** Older records go; without it they are kept for ever. */
  readonly records?: Date;
  /** How many rows of the callback log may belong to no event: requests of strangers. */
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

const LOOKED_AT = 1_000;
/** A row may take tens of kilobytes, so that fewer of them go in a step than of others. */
const DELETED = 100;

/** Both walks go along the index of these rows alone, and let others have their turn after each step. */
export async function trimRefused(database: Database, mostBytes: number): Promise<number> {
  const newestToGo = await firstBeyond(database, mostBytes);
  if (newestToGo === undefined) return 0;
  // Several processes may be at it; what another one has taken is not waited for.
  const unlocked = sql.raw(database.dialect === "postgres" ? "FOR UPDATE SKIP LOCKED" : "");
  const step = sql`DELETE FROM oncehook_callbacks WHERE id IN (SELECT id FROM oncehook_callbacks
    WHERE refused_bytes IS NOT NULL AND id <= ${newestToGo} ORDER BY id LIMIT ${sql.lit(DELETED)} ${unlocked})`;
  return inSteps(database, step);
}

/** From the newest row on: the id of the first that does not fit any more. */
async function firstBeyond({ read }: Database, mostBytes: number): Promise<StoredInteger | undefined> {
  let bytes = 0;
  for (let below: StoredInteger = Number.MAX_SAFE_INTEGER; ; ) {
    const { rows } = await sql<{ id: StoredInteger; refused_bytes: StoredInteger }>`SELECT id, refused_bytes
      FROM oncehook_callbacks WHERE refused_bytes IS NOT NULL AND id < ${below}
      ORDER BY id DESC LIMIT ${sql.lit(LOOKED_AT)}`.execute(read);
    for (const row of rows) {
      bytes += Number(row.refused_bytes);
      if (bytes > mostBytes) return row.id;
      below = row.id;
    }
    if (rows.length < LOOKED_AT) return undefined;
    await nextTurn();
  }
}

async function inSteps({ write }: Database, step: RawBuilder<unknown>): Promise<number> {
  for (let deleted = 0; ; ) {
    const { numAffectedRows = 0n } = await step.execute(write);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BigInt(DELETED)) return deleted;
    await nextTurn();
  }
}
