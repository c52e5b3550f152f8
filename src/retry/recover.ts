import type { Receiver } from "../receive/index.ts";
import type { RetryTiming } from "./lease-times.ts";

/** Settles the attempts of processes that have ended, and says which failures are suspect for it. */
export async function recover(receiver: Receiver, { leaseMs }: RetryTiming): Promise<void> {
  const { store, clock, log, rules } = receiver;
  const settled = await store.failures.recover({ now: clock.now(), leaseMs, policy: rules.retry });
  for (const { source, eventId, kind, isAlone, state, uncleanEnds } of settled) {
    const fields = { source, event_id: eventId, kind, alone: isAlone, state, process_ends: uncleanEnds };
    log.warn(fields, "the process ended during an attempt of this event; the next attempt runs alone");
  }
}
