import { randomUUID } from "node:crypto";
import type { Outcome } from "../domain/index.ts";
import { createLoop, type Loop } from "../loop/index.ts";
import { type Receiver, saysNothing } from "../receive/index.ts";
import type { StoredFailure } from "../store/index.ts";
import { leaseTimes, type RetryTiming } from "./lease-times.ts";
import { runFailure } from "./run-failure.ts";

/** How many failures one process runs at a time; the others are left to the next round, or to other processes. */
const AT_ONCE = 8;

export interface RetryLoop extends Loop {
  /** One round: leases what is due, runs it, resolves when it has ended with how many there were. */
  round(): Promise<number>;
}

/**
 * The asynchronous retries of SPEC 1.10 and 8. The schedule lives in the database, so a restart forgets nothing,
 * and the leases let any number of processes share the work.
 */
export function createRetryLoop(receiver: Receiver, timing: RetryTiming): RetryLoop {
  async function round(): Promise<number> {
    const owner = randomUUID();
    const due = await receiver.store.failures.leaseDue(
      { owner, ...leaseTimes(receiver.clock, timing) },
      AT_ONCE,
    );
    await Promise.all(due.map((failure) => runOne(failure, owner)));
    return due.length;
  }

  async function runOne(failure: StoredFailure, owner: string): Promise<void> {
    const fields = { source: failure.source, event_id: failure.eventId, retry: failure.retriesDone + 1 };
    try {
      const run = { failure, owner, kind: "retry", timeLimitMs: timing.timeLimitMs } as const;
      report(receiver, fields, await runFailure(run, receiver));
    } catch (error) {
      receiver.log.error(
        { ...fields, err: error },
        "a retry could not be run; its lease expires and it is tried again",
      );
    }
  }

  const loop = createLoop(round, (error: unknown) =>
    receiver.log.error({ err: error }, "due retries could not be looked up"),
  );
  return { ...loop, round };
}

function report({ log }: Receiver, fields: object, outcome: Outcome): void {
  // The start has named the types without a handler; one line a minute and event would say no more.
  if (outcome.ending === "refused" && saysNothing(outcome))
    log.debug({ ...fields, code: outcome.code }, "retry put off");
  else if (outcome.ending === "failed" && saysNothing(outcome))
    log.warn(
      { ...fields, code: outcome.code, err: outcome.cause },
      "retry put off; it cost the event none of its retries",
    );
  else if (outcome.ending === "failed")
    log.warn({ ...fields, code: outcome.code, err: outcome.cause }, "retry failed");
  else if (outcome.ending === "refused") log.warn({ ...fields, code: outcome.code }, "retry was refused");
  else log.info({ ...fields, outcome: outcome.ending }, "retry ended");
}
