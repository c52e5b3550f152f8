import { type RawBuilder, sql } from "kysely";
import { Area, assign, columnName, type Database, equal, run, select, type TableName } from "../database.ts";
import { retryUntil } from "../retry-until.ts";
import { StoreError } from "../store-errors.ts";

/** A lease: `owner` may work on the row until `until`, after which another owner may take it over. */
export interface Lease {
  readonly owner: string;
  readonly now: Date;
  readonly until: Date;
}

export const NO_LEASE = sql`lease_owner = NULL, leased_until = NULL`;

const RELEASE_TIMEOUT_MS = 10_000;

/**
 * Takes a lease. After an error that leaves open whether it was taken, releases it. At its end it would look as if its process
 * had ended during the attempts.
 * @param release releases what this owner holds; it has no other lease
 */
export async function takeLease<T>(
  { transientReason }: Database,
  take: () => Promise<T>,
  release: () => Promise<unknown>,
): Promise<T> {
  try {
    return await take();
  } catch (error) {
    const isUnknown = !(error instanceof StoreError) || error.reason === "commit_unknown";
    const deadline = performance.now() + RELEASE_TIMEOUT_MS;
    // If that fails too, the lease expires.
    if (isUnknown) await retryUntil(deadline, release, transientReason).catch(() => {});
    throw error;
  }
}

/** Processes whose clocks differ by less do not correct each other's times. */
export const CLOCK_TOLERANCE_MS = 10_000;

/** Rows corrected at a time; the next round corrects the others. */
export const ROWS_PER_ROUND = 250;

export function isUnleased(now: Date): RawBuilder<unknown> {
  return sql`(leased_until IS NULL OR leased_until <= ${now})`;
}

/** Clocks may differ by a lease. One that ends later than this was given before the clock was set back. */
export function latestPlausibleLeaseEnd(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + 2 * leaseMs);
}

/** Rows that may carry times of a clock that was set back since; `where` is in the words of an index. */
interface LeasedRows {
  readonly table: TableName;
  readonly where: RawBuilder<unknown>;
}

/**
 * Cuts leases that end later than the present clock can have set to one lease from now. Their processes may still be at work, so
 * that no lease ends at once. Writes nothing where there is none.
 */
export async function cutLeases(database: Database, { table, where }: LeasedRows, leaseMs: number, now: Date) {
  const isTooLong = sql`${where} AND leased_until > ${latestPlausibleLeaseEnd(now, leaseMs)}`;
  const found = await select(database, sql`SELECT 1 FROM ${sql.table(table)} WHERE ${isTooLong} LIMIT 1`);
  if (found.length === 0) return;
  const leasedUntil = new Date(now.getTime() + leaseMs);
  await run(database.write, sql`UPDATE ${sql.table(table)} SET ${assign({ leasedUntil })} WHERE ${isTooLong}`);
}

/** Its columns in camel case. */
interface ScheduledRows extends LeasedRows {
  readonly key: string;
  /** Says when the others were set. */
  readonly setAt: string;
  readonly times: readonly string[];
}

/** Moves times that were set later than now: as long after now as they were to come after then. */
export async function bringForward(database: Database, { table, where, key, setAt, times }: ScheduledRows, now: Date) {
  const latest = new Date(now.getTime() + CLOCK_TOLERANCE_MS);
  const [name, since] = [sql.table(table), sql.ref(columnName(setAt))];
  const late = sql`SELECT * FROM ${name} WHERE ${where} AND ${since} > ${latest}
    ORDER BY ${since} LIMIT ${sql.lit(ROWS_PER_ROUND)}`;
  const rows = await select<Record<string, string | null>>(database, late);
  if (rows.length === 0) return;
  await database.transact(async (query) => {
    for (const row of rows) {
      const aheadMs = (time: string) => Math.max(0, Date.parse(time) - Date.parse(String(row[setAt])));
      const moved = times.map((column) => {
        const time = row[column];
        return [column, time ? new Date(now.getTime() + aheadMs(time)) : null];
      });
      const changes = { ...Object.fromEntries(moved), [setAt]: now };
      const unchanged = equal({ [key]: row[key], [setAt]: row[setAt] });
      await run(query, sql`UPDATE ${name} SET ${assign(changes)} WHERE ${unchanged} AND ${where}`);
    }
  });
}

export class Leases extends Area {
  /**
   * Ends the leases of failures, deliveries, bulk replays and backfills, as if their time were over. Those of prepare steps and of users'
   * tokens stay. If their process runs after all, a code or refresh token would be sent twice (decision 0041).
   */
  async expireAll(now: Date): Promise<void> {
    await this.database.transact(async (query) => {
      for (const leased of [
        sql`oncehook_failures SET leased_until = ${now} WHERE lease_owner IS NOT NULL`,
        sql`oncehook_deliveries SET leased_until = ${now} WHERE lease_owner IS NOT NULL`,
        // The condition of the index, word for word.
        sql`oncehook_bulk_replays SET leased_until = ${now} WHERE state = 'running' AND lease_owner IS NOT NULL`,
        sql`oncehook_backfills SET leased_until = ${now} WHERE state = 'running' AND lease_owner IS NOT NULL`,
      ])
        await run(query, sql`UPDATE ${leased}`);
    });
  }
}
