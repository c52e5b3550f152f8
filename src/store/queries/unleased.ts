import { type RawBuilder, type SqlBool, sql } from "kysely";

/** Rows that nobody is at work on: never leased, or leased by somebody who let the time pass. */
export function unleased(now: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`(leased_until IS NULL OR leased_until <= ${now.toISOString()})`;
}
