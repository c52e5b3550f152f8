import { sql } from "kysely";
import { type Database, equal, insert, run } from "../database.ts";
import { type Lease, latestPlausibleLeaseEnd, takeLease } from "./lease.ts";

/** Milliseconds since the epoch have this many digits until the year 2286. */
const TIME_DIGITS = 13;

/**
 * Takes a lease that is a row of `oncehook_settings`. It must be free, or end later than a clock can have set it.
 * @param longestMs that such a lease lasts
 */
export async function leaseByName(
  database: Database,
  name: string,
  { owner, now, until }: Lease,
  longestMs: number,
): Promise<boolean> {
  const endsAt = sql`CAST(substr(oncehook_settings.value, 1, ${sql.lit(TIME_DIGITS)}) AS bigint)`;
  const latest = latestPlausibleLeaseEnd(now, longestMs).getTime();
  const row = insert("oncehook_settings", { name, value: leaseText(until, owner) });
  const statement = sql`${row} ON CONFLICT (name) DO UPDATE SET value = excluded.value
    WHERE ${endsAt} <= ${now.getTime()} OR ${endsAt} > ${latest}`;
  const { changes } = await takeLease(
    database,
    () => run(database.write, statement),
    () => setNamedLeaseEnd(database, name, owner, now),
  );
  return changes > 0;
}

/** Renews the lease of this owner, or ends it at a time. @returns false where another owner has it */
export async function setNamedLeaseEnd(database: Database, name: string, owner: string, until: Date): Promise<boolean> {
  const statement = sql`UPDATE oncehook_settings SET value = ${leaseText(until, owner)}
    WHERE ${equal({ name })} AND value LIKE ${`%${owner}`}`;
  return (await run(database.write, statement)).changes > 0;
}

const leaseText = (until: Date, owner: string) => `${until.getTime()} ${owner}`;
