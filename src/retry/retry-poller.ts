import type { AttemptOutcome } from "../domain/index.ts";
import { isInconclusive, type Receiver } from "../pipeline/index.ts";
import { createPoller } from "../poller/index.ts";
import type { StoredFailure } from "../store/index.ts";
import { newLease, recoverInterrupted, runFailure } from "./run-failure.ts";

/** How many failures one process runs at a time. */
const MAX_CONCURRENT_RETRIES = 8;

/**
 * The asynchronous retries of SPEC 1.10 and 8. The schedule lives in the database, so a restart forgets nothing,
 * and the leases let any number of processes share the work. A failure whose attempt its process did not survive is suspect,
 * and runs alone (decision 0041).
 */
export function createRetryPoller(receiver: Receiver) {
  const { runLock } = receiver;
  const { failureLeases } = receiver.store;
  const stopping = new AbortController();

  /** Runs what is due, batch by batch; resolves with how many. Many that cannot run yet delay the others little. */
  async function round(): Promise<number> {
    for (let ran = 0; ; ) {
      await recoverInterrupted(receiver);
      const started = await runBatch();
      ran += started + (await runSuspects());
      if (started < MAX_CONCURRENT_RETRIES || stopping.signal.aborted) return ran;
    }
  }

  function runBatch(): Promise<number> {
    return runLock.shared(async () => {
      // A replay may have kept this batch waiting.
      if (stopping.signal.aborted) return 0;
      const lease = newLease(receiver);
      const due = await failureLeases.leaseDue(lease, MAX_CONCURRENT_RETRIES);
      await Promise.all(due.map((failure) => run(failure, lease)));
      return due.length;
    });
  }

  /** One by one, after the others. A suspect that ends the process interrupts no other attempt, and runs last again. */
  async function runSuspects(): Promise<number> {
    for (let ran = 0; ran < MAX_CONCURRENT_RETRIES; ran += 1) {
      if (stopping.signal.aborted || !(await failureLeases.isSuspectDue(receiver.clock.now()))) return ran;
      const found = await runLock.exclusive(async () => {
        const lease = newLease(receiver);
        const failure = await failureLeases.leaseSuspect(lease);
        if (failure !== undefined) await run(failure, lease);
        return failure !== undefined;
      });
      if (!found) return ran;
    }
    return MAX_CONCURRENT_RETRIES;
  }

  const run = (failure: StoredFailure, lease: ReturnType<typeof newLease>) =>
    runLeased({ failure, lease, kind: "retry" }, stopping.signal, receiver);

  const loop = createPoller(round, (error: unknown) =>
    receiver.log.error({ err: error }, "due retries could not be looked up"),
  );
  return {
    ...loop,
    round,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}

/** Runs what was leased, and logs how it ended. */
export async function runLeased(
  { failure, lease, kind }: LeasedRun,
  stopping: AbortSignal,
  receiver: Receiver,
): Promise<void> {
  const { owner, leaseEndsAt } = lease;
  const { source, eventId, retriesDone } = failure;
  const fields = { source, event_id: eventId, ...(kind === "retry" && { retry: retriesDone }) };
  try {
    report(
      receiver,
      fields,
      kind,
      await runFailure({ failure, owner, leaseEndsAt, kind, stopping }, receiver),
    );
  } catch (error) {
    receiver.log.error(
      { ...fields, err: error },
      `how ${LABELS[kind]} ended could not be stored; it counts as cut off when its lease expires`,
    );
  }
}

interface LeasedRun {
  readonly failure: StoredFailure;
  readonly lease: ReturnType<typeof newLease>;
  readonly kind: "accepted" | "retry";
}

const LABELS = { accepted: "an accepted event", retry: "a retry" };

function report({ log }: Receiver, fields: object, kind: LeasedRun["kind"], outcome: AttemptOutcome): void {
  const what = kind === "retry" ? "retry" : "accepted event";
  if (outcome.kind !== "refused" && outcome.kind !== "failed")
    return log.info({ ...fields, outcome: outcome.kind }, `${what} ended`);
  const { code } = outcome;
  const isPutOff = isInconclusive(outcome);
  if (outcome.kind === "failed") {
    const message = isPutOff ? `${what} put off; it cost the event none of its retries` : `${what} failed`;
    log.warn({ ...fields, code, err: outcome.cause }, message);
  }
  // The start has named the types without a handler; one line a minute and event would say no more.
  else if (isPutOff) log.debug({ ...fields, code }, `${what} put off`);
  else log.warn({ ...fields, code }, `${what} was refused`);
}
