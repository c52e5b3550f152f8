import { sql } from "kysely";
import type { Database } from "./database.ts";

/** So far apart the clocks of processes may be that share a count. */
const CLOCKS_APART_MS = 10_000;

/**
 * A window that ends later than one that would begin now is of a clock that was set back, and is not believed.
 * One statement counts the hit and starts a new window where the old one is over, so no hit is lost.
 */
export async function hitRate(
  { write }: Database,
  key: string,
  windowMs: number,
  now: Date,
): Promise<RateCount> {
  const at = now.getTime();
  const latest = at + windowMs + CLOCKS_APART_MS;
  const isOver = sql`(c.reset_at_ms <= ${at} OR c.reset_at_ms > ${latest})`;
  const { rows } = await sql<{ points: number; reset_at_ms: number | string }>`
    INSERT INTO oncehook_rate_counters AS c (key, points, reset_at_ms) VALUES (${key}, 1, ${at + windowMs})
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN ${isOver} THEN 1 ELSE c.points + 1 END,
      reset_at_ms = CASE WHEN ${isOver} THEN excluded.reset_at_ms ELSE c.reset_at_ms END
    RETURNING points, reset_at_ms`.execute(write);
  const [row] = rows;
  if (row === undefined) throw new Error("the rate counter's upsert returned no row");
  return { points: row.points, resetAt: new Date(Number(row.reset_at_ms)) };
}

export interface RateCount {
  readonly points: number;
  readonly resetAt: Date;
}
