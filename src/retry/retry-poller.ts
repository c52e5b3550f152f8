import type { Receiver } from "../pipeline/index.ts";
import { createPoller } from "../poller/index.ts";
import { createLeasedPoller, runLeased } from "./leased-poller.ts";
import { newLease, recoverInterrupted } from "./run-failure.ts";

/** How many failures one process runs at a time; so many suspects run in one round. */
const MAX_CONCURRENT_RETRIES = 8;

/**
 * The asynchronous retries of SPEC 1.10 and 8. The schedule lives in the database, so a restart forgets nothing,
 * and the leases let any number of processes share the work. A failure whose attempt its process did not survive is suspect,
 * and runs alone (decision 0041).
 */
export function createRetryPoller(receiver: Receiver) {
  const { runLock, log, clock } = receiver;
  const { failureLeases } = receiver.store;
  const stopping = new AbortController();
  const work = { state: "waiting", max: MAX_CONCURRENT_RETRIES, before: recoverInterrupted } as const;
  const retries = createLeasedPoller(work, receiver);

  /** One by one, while no other runs. A suspect that ends the process interrupts no other attempt, and runs last again. */
  async function runSuspects(): Promise<number> {
    for (let ran = 0; ran < MAX_CONCURRENT_RETRIES; ran += 1) {
      if (stopping.signal.aborted || !(await failureLeases.isSuspectDue(clock.now()))) return ran;
      const found = await runLock.exclusive(async () => {
        const lease = newLease(receiver);
        const failure = await failureLeases.leaseSuspect(lease);
        if (failure !== undefined)
          await runLeased({ failure, lease, kind: "retry" }, stopping.signal, receiver);
        return failure !== undefined;
      });
      if (!found) return ran;
    }
    return MAX_CONCURRENT_RETRIES;
  }

  // Apart from the others: a suspect waits until no other runs, and these may be slow.
  const suspects = createPoller(runSuspects, (error: unknown) =>
    log.error({ err: error }, "suspects could not be looked up"),
  );
  return {
    start(intervalMs: number): void {
      retries.start(intervalMs);
      suspects.start(intervalMs);
    },
    /** Runs what is due, and what becomes due meanwhile, then the suspects; resolves with how many. */
    async round(): Promise<number> {
      const ran = await retries.round();
      return ran + (await runSuspects());
    },
    async stop() {
      stopping.abort();
      await Promise.all([retries.stop(), suspects.stop()]);
    },
  };
}
