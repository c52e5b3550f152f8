import { sql } from "kysely";
import type { RateCount } from "../store.ts";
import type { Access } from "./access.ts";

/** One statement counts the hit and starts the window anew where the old one is over, so no hit is lost. */
export async function hitRate(
  { write }: Access,
  key: string,
  windowMs: number,
  now: Date,
): Promise<RateCount> {
  const at = now.getTime();
  const { rows } = await sql<{ points: number; reset_at_ms: number | string }>`
    INSERT INTO oncehook_rate_counters AS c (key, points, reset_at_ms) VALUES (${key}, 1, ${at + windowMs})
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN c.reset_at_ms <= ${at} THEN 1 ELSE c.points + 1 END,
      reset_at_ms = CASE WHEN c.reset_at_ms <= ${at} THEN excluded.reset_at_ms ELSE c.reset_at_ms END
    RETURNING points, reset_at_ms`.execute(write);
  const [row] = rows;
  if (row === undefined) throw new Error("the rate counter's upsert returned no row");
  return { points: row.points, resetAt: new Date(Number(row.reset_at_ms)) };
}
