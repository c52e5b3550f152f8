import { sql } from "kysely";
import { Area } from "./database.ts";
import { CLOCK_TOLERANCE_MS } from "./lease.ts";

export interface RateCount {
  readonly points: number;
  readonly resetAt: Date;
}

export class RateCounters extends Area {
  /**
   * Counts one hit in the key's current window and returns the count. One statement counts and starts a new window, so that no
   * hit is lost. A window that ends too late was started before the clock was set back, and counts as over.
   */
  async hit(key: string, windowMs: number, now: Date): Promise<RateCount> {
    const at = now.getTime();
    const latest = at + windowMs + CLOCK_TOLERANCE_MS;
    const isOver = sql`(c.reset_at_ms <= ${at} OR c.reset_at_ms > ${latest})`;
    const { rows } = await this.write<{ points: number; resetAtMs: number }>`
      INSERT INTO oncehook_rate_counters AS c (key, points, reset_at_ms) VALUES (${key}, 1, ${at + windowMs})
      ON CONFLICT (key) DO UPDATE SET
        points = CASE WHEN ${isOver} THEN 1 ELSE c.points + 1 END,
        reset_at_ms = CASE WHEN ${isOver} THEN excluded.reset_at_ms ELSE c.reset_at_ms END
      RETURNING points, reset_at_ms`;
    const [row] = rows;
    if (row === undefined) throw new Error("the rate counter's upsert returned no row");
    return { points: row.points, resetAt: new Date(row.resetAtMs) };
  }
}
