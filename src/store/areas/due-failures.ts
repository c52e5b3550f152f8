import { type RawBuilder, sql } from "kysely";
import type { FailureState } from "../../domain/index.ts";

/** Retries, or the first attempts of accepted events. */
export type DueState = Extract<FailureState, "accepted" | "waiting">;

export interface DueRows {
  readonly state: DueState;
  readonly source: string;
  readonly limit: number;
}

/**
 * Each step finds the next source in the index: one with many rows costs as much as one with few. At the end, PostgreSQL would
 * join all rows for an EXISTS.
 */
export function dueSources(state: DueState, after: string, now: Date, limit: number): RawBuilder<{ source: string }> {
  const inState = sql`FROM oncehook_failures WHERE state = ${sql.lit(state)}`;
  const isDue = sql`next_attempt_at <= ${now} AND lease_owner IS NULL`;
  const next = (last: unknown) => sql`(SELECT source ${inState} AND source > ${last} ORDER BY source LIMIT 1)`;
  return sql`WITH RECURSIVE sources (name) AS (
      SELECT ${next(after)} WHERE EXISTS (SELECT 1 ${inState} AND ${isDue})
      UNION ALL SELECT ${next(sql`sources.name`)} FROM sources WHERE name IS NOT NULL)
    SELECT name AS source FROM sources
    WHERE (SELECT 1 ${inState} AND source = sources.name AND ${isDue} ORDER BY next_attempt_at LIMIT 1) = 1
    LIMIT ${sql.lit(limit)}`;
}

/** So many rows of a source are read to find those whose keys are free. The rows of one busy key may be far more. */
const READ_AHEAD = 1_000;

/** The due rows of a source that may run. Of those with one `orderBy` only the first may, and none while that one is leased. */
export function firstOfKeys(state: DueState, source: string, now: Date): RawBuilder<unknown> {
  const isDue = sql`state = ${sql.lit(state)} AND source = ${source} AND next_attempt_at <= ${now}`;
  return sql`${isDue} AND lease_owner IS NULL ${state === "waiting" ? sql`AND crashes = 0` : sql``}
    AND next_attempt_at <= COALESCE((SELECT next_attempt_at FROM oncehook_failures WHERE ${isDue}
      ORDER BY next_attempt_at LIMIT 1 OFFSET ${sql.lit(READ_AHEAD)}), ${now})
    AND (order_key = '' OR id = (SELECT first.id FROM oncehook_failures first WHERE first.source = ${source}
      AND first.order_key = oncehook_failures.order_key AND first.order_key <> '' AND first.state = ${sql.lit(state)}
      ORDER BY first.next_attempt_at, first.id LIMIT 1))`;
}

/** `crashes > 0` is the condition of the index, word for word. */
export function suspectDue(now: Date): RawBuilder<unknown> {
  return sql`crashes > 0 AND next_attempt_at <= ${now} AND state = 'waiting' AND lease_owner IS NULL`;
}
