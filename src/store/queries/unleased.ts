import { type RawBuilder, type SqlBool, sql } from "kysely";

/** Rows that nobody is at work on: never leased, or leased by somebody who let the time pass. */
export function unleased(now: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`(leased_until IS NULL OR leased_until <= ${now.toISOString()})`;
}

/**
 * No lease that the present clock gave ends later. One lease more is for clocks that differ: a lease that ends later still was
 * given before the clock was set back, and is cut to one lease from now. It is never taken away at once, since its process may
 * be at work.
 */
export function latestBelievable(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + 2 * leaseMs);
}
