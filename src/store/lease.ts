import { type RawBuilder, type SqlBool, sql } from "kysely";
import { Area, type Database, run } from "./database.ts";
import type { TableName } from "./tables.ts";

/** A lease: `owner` may work on the row until `until`, after which another owner may take it over. */
export interface Lease {
  readonly owner: string;
  readonly now: Date;
  readonly until: Date;
}

export const NO_LEASE = sql`lease_owner = NULL, leased_until = NULL`;

/** Processes whose clocks differ by less do not correct each other's times. */
export const CLOCK_TOLERANCE_MS = 10_000;

/** Rows corrected at a time; the next round corrects the others. */
export const ROWS_PER_ROUND = 250;

export function isUnleased(now: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`(leased_until IS NULL OR leased_until <= ${now})`;
}

/**
 * The latest end of a lease that the present clock can have given. Clocks may differ by a lease; a lease that ends later was
 * given before the clock was set back.
 */
export function latestPlausibleLeaseEnd(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + 2 * leaseMs);
}

/** Rows of a table that may carry times of a clock that was set back since. */
interface LeasedRows {
  readonly table: TableName;
  /** In the words of an index. */
  readonly where: RawBuilder<unknown>;
}

/**
 * Cuts leases that end later than the present clock can have set to one lease from now. Their processes may still be at work, so
 * that no lease ends at once. Writes nothing where there is none.
 */
export async function cutLeases(
  { read, write }: Database,
  { table, where }: LeasedRows,
  leaseMs: number,
  now: Date,
): Promise<void> {
  const isTooLong = sql`${where} AND leased_until > ${latestPlausibleLeaseEnd(now, leaseMs)}`;
  const found = await sql`SELECT 1 FROM ${sql.table(table)} WHERE ${isTooLong} LIMIT 1`.execute(read);
  if (found.rows.length === 0) return;
  const until = new Date(now.getTime() + leaseMs);
  await sql`UPDATE ${sql.table(table)} SET leased_until = ${until} WHERE ${isTooLong}`.execute(write);
}

interface ScheduledRows extends LeasedRows {
  readonly key: string;
  /** The column that says when the others were set. */
  readonly setAt: string;
  readonly times: readonly string[];
}

/** Moves times that were set later than now: as long after now as they were to come after then. */
export async function bringForward(
  { read, transact }: Database,
  { table, where, key, setAt, times }: ScheduledRows,
  now: Date,
): Promise<void> {
  const latest = new Date(now.getTime() + CLOCK_TOLERANCE_MS);
  const columns = sql.join([key, setAt, ...times].map((name) => sql.ref(name)));
  const { rows } = await sql<Record<string, string | number | null>>`SELECT ${columns}
    FROM ${sql.table(table)} WHERE ${where} AND ${sql.ref(setAt)} > ${latest}
    ORDER BY ${sql.ref(setAt)} LIMIT ${sql.lit(ROWS_PER_ROUND)}`.execute(read);
  if (rows.length === 0) return;
  await transact(async (query) => {
    for (const row of rows) {
      const aheadMs = (time: string) => Math.max(0, Date.parse(time) - Date.parse(String(row[setAt])));
      const moved = times.map((name) => {
        const time = row[name];
        const to = typeof time === "string" ? new Date(now.getTime() + aheadMs(time)) : null;
        return sql`${sql.ref(name)} = ${to}`;
      });
      await sql`UPDATE ${sql.table(table)} SET ${sql.join(moved)}, ${sql.ref(setAt)} = ${now}
        WHERE ${sql.ref(key)} = ${row[key]} AND ${sql.ref(setAt)} = ${row[setAt]} AND ${where}`.execute(
        query,
      );
    }
  });
}

export class Leases extends Area {
  /** Ends every lease, as if its time were over: no process that held one runs any more. */
  async expireAll(now: Date): Promise<void> {
    await this.database.transact(async (query) => {
      for (const leased of [
        sql`oncehook_failures SET leased_until = ${now} WHERE lease_owner IS NOT NULL`,
        sql`oncehook_deliveries SET leased_until = ${now} WHERE lease_owner IS NOT NULL`,
        // The condition of the index, word for word.
        sql`oncehook_bulk_replays SET leased_until = ${now} WHERE state = 'running' AND lease_owner IS NOT NULL`,
      ])
        await run(query, sql`UPDATE ${leased}`);
    });
  }
}
