import type { Clock } from "../domain/index.ts";
import type { Receiver } from "../pipeline/index.ts";

/** Settles the attempts of processes that have ended, and says which failures are suspect for it. */
export async function recoverInterrupted(receiver: Receiver, { leaseMs }: RetryTiming): Promise<void> {
  const { store, clock, log, settings } = receiver;
  const settled = await store.failureRecovery.recover({ now: clock.now(), leaseMs, policy: settings.retry });
  for (const { source, eventId, kind, isAlone, state, crashes } of settled) {
    const fields = { source, event_id: eventId, kind, alone: isAlone, state, process_ends: crashes };
    log.warn(fields, "the process ended during an attempt of this event; the next attempt runs alone");
  }
}

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
