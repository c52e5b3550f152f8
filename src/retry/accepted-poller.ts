import type { Receiver } from "../pipeline/index.ts";
import { createPoller } from "../poller/index.ts";
import { runLeased } from "./retry-poller.ts";
import { newLease } from "./run-failure.ts";

/** How many one process runs at a time: they are no sign of trouble, and their platforms have their responses. */
const MAX_CONCURRENT = 32;

/** The first attempts of accepted events (answer mode `after`, or `within` where the process ended). Beside the retries. */
export function createAcceptedPoller(receiver: Receiver) {
  const { runLock, acceptedEvents, log } = receiver;
  const { failureLeases } = receiver.store;
  const stopping = new AbortController();

  /** Runs what is due; resolves with how many. A place that is free takes the next event. */
  async function round(): Promise<number> {
    const atWork = new Set<Promise<void>>();
    let ran = 0;
    for (;;) {
      const lease = newLease(receiver);
      const isOver = stopping.signal.aborted;
      const due = isOver ? [] : await failureLeases.leaseAccepted(lease, MAX_CONCURRENT - atWork.size);
      ran += due.length;
      for (const failure of due) {
        const run = runLock
          .shared(() => runLeased({ failure, lease, kind: "accepted" }, stopping.signal, receiver))
          .finally(() => atWork.delete(run));
        atWork.add(run);
      }
      if (due.length === 0 && atWork.size === 0) return ran;
      if (due.length === 0 || atWork.size === MAX_CONCURRENT) await Promise.race(atWork);
    }
  }

  const loop = createPoller(round, (error: unknown) =>
    log.error({ err: error }, "accepted events could not be looked up"),
  );
  acceptedEvents.onAccepted = loop.wake;
  return {
    ...loop,
    round,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}
