import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Database } from "./database.ts";
/** A lease: `owner` may work on the row until `until`, after which another owner may take it over. */
export interface Lease {
  readonly owner: string;
  readonly now: Date;
  readonly until: Date;
}

/** Matches rows without a lease or with an expired one. */
export function isUnleased(now: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`(leased_until IS NULL OR leased_until <= ${now.toISOString()})`;
}

/**
 * No lease that the present clock gave ends later. One lease more is for clocks that differ: a lease that ends later still was
 * given before the clock was set back, and is cut to one lease from now. It is never taken away at once, since its process may
 * be at work.
 */
export function latestPlausibleLeaseEnd(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + 2 * leaseMs);
}

/** What the attempts of their processes come to is found out as if they had run out of time. */
export async function expireLeases({ transact }: Database, now: Date): Promise<void> {
  const leased_until = now.toISOString();
  await transact(async (query) => {
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
