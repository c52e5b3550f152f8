import type { Config } from "../config/index.ts";

/** For storing how a run ended; short limits need no more than as long again. */
const MARGIN_MS = 10_000;

/** The longest run of an event: waiting for its turn, `prepare`, then `handle`. */
export function longestRunMs({ requestTimeoutMs, handlerTimeoutMs }: Config): number {
  return requestTimeoutMs + 2 * handlerTimeoutMs;
}

/** A lease outlives the longest run. */
export function leaseTiming(config: Config): { timeLimitMs: number; leaseMs: number } {
  const longest = longestRunMs(config);
  return { timeLimitMs: config.requestTimeoutMs, leaseMs: longest + Math.min(MARGIN_MS, longest) };
}
