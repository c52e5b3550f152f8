import { type RawBuilder, type SqlBool, sql } from "kysely";
import { isoTime } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import type { StoredInteger, StoredTime, Tables } from "./tables.ts";

/** A lease: `owner` may work on the row until `until`, after which another owner may take it over. */
export interface Lease {
  readonly owner: string;
  readonly now: Date;
  readonly until: Date;
}

/** The columns of a row without a lease. */
export const NO_LEASE = { lease_owner: null, leased_until: null } as const;

/** Processes whose clocks differ by less do not correct each other's times. */
export const CLOCK_TOLERANCE_MS = 10_000;

/** Rows corrected at a time; the next round corrects the others. */
export const ROWS_PER_ROUND = 250;

/** Matches rows without a lease or with an expired one. */
export function isUnleased(now: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`(leased_until IS NULL OR leased_until <= ${now.toISOString()})`;
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
  readonly table: keyof Tables;
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
  const isTooLong = sql`${where} AND leased_until > ${latestPlausibleLeaseEnd(now, leaseMs).toISOString()}`;
  const found = await sql`SELECT 1 FROM ${sql.table(table)} WHERE ${isTooLong} LIMIT 1`.execute(read);
  if (found.rows.length === 0) return;
  const until = new Date(now.getTime() + leaseMs).toISOString();
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
  const latest = new Date(now.getTime() + CLOCK_TOLERANCE_MS).toISOString();
  const columns = sql.join([key, setAt, ...times].map((name) => sql.ref(name)));
  const { rows } = await sql<Record<string, StoredTime | StoredInteger | null>>`SELECT ${columns}
    FROM ${sql.table(table)} WHERE ${where} AND ${sql.ref(setAt)} > ${latest}
    ORDER BY ${sql.ref(setAt)} LIMIT ${sql.lit(ROWS_PER_ROUND)}`.execute(read);
  if (rows.length === 0) return;
  await transact(async (query) => {
    for (const row of rows) {
      const then = millisecondsOf(row[setAt]);
      const moved = times.map((name) => {
        const time =
          row[name] === null ? null : now.getTime() + Math.max(0, millisecondsOf(row[name]) - then);
        return sql`${sql.ref(name)} = ${time === null ? null : new Date(time).toISOString()}`;
      });
      await sql`UPDATE ${sql.table(table)} SET ${sql.join(moved)}, ${sql.ref(setAt)} = ${now.toISOString()}
        WHERE ${sql.ref(key)} = ${row[key]} AND ${sql.ref(setAt)} = ${row[setAt]} AND ${where}`.execute(
        query,
      );
    }
  });
}

function millisecondsOf(time: StoredTime | StoredInteger | null | undefined): number {
  return Date.parse(isoTime(time as StoredTime));
}

/** The leases of all areas. */
export class Leases extends Area {
  /** Ends every lease, as if its time were over: no process that held one runs any more. */
  async expireAll(now: Date): Promise<void> {
    const leased_until = now.toISOString();
    await this.database.transact(async (query) => {
      for (const table of ["oncehook_failures", "oncehook_deliveries"] as const)
        await query.updateTable(table).set({ leased_until }).where("lease_owner", "is not", null).execute();
      await query
        .updateTable("oncehook_bulk_replays")
        .set({ leased_until })
        // The condition of the index, word for word.
        .where(sql<boolean>`state = 'running'`)
        .where("lease_owner", "is not", null)
        .execute();
    });
  }
}
