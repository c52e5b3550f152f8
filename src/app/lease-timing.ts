import type { Config } from "../config/index.ts";

const MARGIN_MS = 10_000;

/** A lease outlives the longest run: waiting for its turn, `prepare`, then `handle`. */
export function leaseTiming(config: Config): { timeLimitMs: number; leaseMs: number } {
  const timeLimitMs = config.requestTimeoutMs;
  return { timeLimitMs, leaseMs: timeLimitMs + 2 * config.handlerTimeoutMs + MARGIN_MS };
}
