import { type RawBuilder, sql } from "kysely";
import type { SweepLimits, Swept } from "../store.ts";
import type { Access } from "./access.ts";
import { boundRefused } from "./refused-bytes.ts";
import { sweepRollups } from "./rollups.ts";

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

/** Deletes in steps of a thousand rows, so that no callback waits long for the writer. */
export async function sweep(access: Access, limits: SweepLimits): Promise<Swept> {
  const { callbacks, now } = limits;
  const old = await alongIds(access, "oncehook_callbacks", "received_at", callbacks);
  const records =
    limits.records === undefined
      ? 0
      : await alongIds(access, "oncehook_records", "created_at", limits.records, NOT_OAUTH, indexCallbacks);
  const stale =
    (await byTime(access, "oncehook_late_callbacks", "oldest", "stored_at", callbacks.toISOString())) +
    (await sweepPreparations(access, new Date(now.getTime() - PREPARATION_MS))) +
    (await byTime(access, "oncehook_redirect_states", "state_sha256", "expires_at", now.toISOString())) +
    (await byTime(access, "oncehook_spent_states", "state_sha256", "expires_at", now.toISOString())) +
    (await byTime(access, "oncehook_sessions", "id_sha256", "expires_at", now.toISOString())) +
    (await alongIds(access, "oncehook_audit", "at", earlier(callbacks, now.getTime() - AUDIT_MS))) +
    (await byTime(access, "oncehook_rate_counters", "key", "reset_at_ms", now.getTime())) +
    (await alongIds(access, "oncehook_notifications", "created_at", callbacks, DELIVERED)) +
    (await alongIds(access, "oncehook_attempts", "began_at", callbacks)) +
    (await alongIds(access, "oncehook_bulk_replays", "begun_at", callbacks, ENDED_BEFORE_OTHERS)) +
    (await sweepRollups(access, now));
  const strangers =
    (await sweepStrangers(access, limits.strangersKept)) +
    (limits.strangerBytes === undefined ? 0 : await boundRefused(access, limits.strangerBytes));
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
  { read, write }: Access,
  name: string,
  column: string,
  before: Date,
  and = sql``,
  first?: (going: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<number> {
  const [table, time] = [sql.table(name), sql.ref(column)];
  const limit = before.toISOString();
  let deleted = 0;
  for (let last: number | string = 0; ; ) {
    const { rows } = await sql<{
      id: number | string;
      is_old: number | boolean;
    }>`SELECT id, ${time} < ${limit} AS is_old
      FROM ${table} WHERE id > ${last} ORDER BY id LIMIT ${sql.lit(STEP)}`.execute(read);
    const newest = rows.at(-1);
    if (newest === undefined || !rows.some((row) => Boolean(row.is_old))) return deleted;
    const going = sql`WHERE id > ${last} AND id <= ${newest.id} AND ${time} < ${limit} ${and}`;
    await first?.(going).execute(write);
    const done = await sql`DELETE FROM ${table} ${going}`.execute(write);
    deleted += Number(done.numAffectedRows ?? 0n);
    last = newest.id;
  }
}

function byTime(
  access: Access,
  table: string,
  id: string,
  column: string,
  before: string | number,
): Promise<number> {
  const [rows, key, time] = [sql.table(table), sql.ref(id), sql.ref(column)];
  return repeat(
    access,
    sql`DELETE FROM ${rows} WHERE ${time} < ${before} AND ${key} IN
      (SELECT ${key} FROM ${rows} WHERE ${time} < ${before} ORDER BY ${time} LIMIT ${sql.lit(STEP)})`,
  );
}

/** The log rows of requests that never came to an event are bounded in number: anybody can make them. */
async function sweepStrangers(access: Access, kept: number): Promise<number> {
  const newestToGo = await sql<{ id: number | string }>`SELECT id FROM oncehook_callbacks
    WHERE event_id IS NULL AND with_record = 0 ORDER BY id DESC LIMIT 1 OFFSET ${kept}`.execute(access.read);
  const [row] = newestToGo.rows;
  if (row === undefined) return 0;
  return repeat(
    access,
    sql`DELETE FROM oncehook_callbacks WHERE id IN (SELECT id FROM oncehook_callbacks
      WHERE event_id IS NULL AND with_record = 0 AND id <= ${row.id} ORDER BY id LIMIT ${sql.lit(STEP)})`,
  );
}

/**
 * What a failed event has prepared stays as long as the failure: a replay needs it, however late it comes. The
 * count keeps PostgreSQL from joining the two tables whole; it looks the failure of each old row up.
 */
function sweepPreparations(access: Access, before: Date): Promise<number> {
  return repeat(
    access,
    sql`DELETE FROM oncehook_preparations AS p WHERE p.created_at < ${before.toISOString()} AND 0 =
      (SELECT count(*) FROM oncehook_failures AS f WHERE f.event_id = p.event_id AND f.source = p.source)`,
  );
}

async function repeat({ write }: Access, step: RawBuilder<unknown>): Promise<number> {
  for (let deleted = 0; ; ) {
    const { numAffectedRows = 0n } = await step.execute(write);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BigInt(STEP)) return deleted;
  }
}
