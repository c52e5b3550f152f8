import type { Clock } from "../domain/index.ts";

export interface RetryTiming {
  /** How long one run may wait for the database and for its turn; the handler's own limit comes on top. */
  readonly timeLimitMs: number;
  /** How long a run may take in all; after that the process that held the lease counts as dead. */
  readonly leaseMs: number;
}

export function leaseTimes(clock: Clock, { leaseMs }: RetryTiming): { now: Date; until: Date } {
  const now = clock.now();
  return { now, until: new Date(now.getTime() + leaseMs) };
}

/** When a lease that is taken now ends, on the scale of `performance.now()`; asked before it is taken. */
export function leaseEnd({ leaseMs }: RetryTiming): number {
  return performance.now() + leaseMs;
}
