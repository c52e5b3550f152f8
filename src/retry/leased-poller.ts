import type { AttemptOutcome } from "../domain/index.ts";
import { isInconclusive, type Receiver } from "../pipeline/index.ts";
import type { DueState, StoredFailure } from "../store/index.ts";
import { createPoller, FairShare } from "../system/index.ts";
import { newLease, recoverInterrupted, runFailure } from "./run-failure.ts";

/** How many one process runs at a time. No accepted event has failed yet, so that more of them run than retries. */
const MAX_CONCURRENT = { accepted: 32, waiting: 8 };
/** Sources and tenants that one look finds; the next look goes on behind them. */
const SOURCES_A_LOOK = 32;

/**
 * Runs what is due, source by source: each source with each of its tenants has a share of the places. A place that is free
 * takes the next event at once, whatever the others do.
 */
function createLeasedPoller(state: DueState, receiver: Receiver) {
  const { runLock, clock, log, store } = receiver;
  const max = MAX_CONCURRENT[state];
  const kind = state === "waiting" ? "retry" : "accepted";
  const stopping = new AbortController();
  const places = new FairShare(max);
  const atWork = new Set<Promise<void>>();
  let after = "";

  /** Starts what is due and has a place; resolves with how many. */
  async function start(over?: AbortSignal): Promise<number> {
    if (state === "waiting") await recoverInterrupted(receiver);
    let started = 0;
    for (let isSecondPass = false; !stopping.signal.aborted && over?.aborted !== true; ) {
      const sources = await store.failureLeases.dueSources(state, after, clock.now(), SOURCES_A_LOOK);
      const isWhole = after === "" || isSecondPass;
      const hasMore = sources.length === SOURCES_A_LOOK;
      after = hasMore ? String(sources.at(-1)) : "";
      const share = Math.ceil(max / sources.length);
      const counts = await Promise.all(sources.map((source) => startOf(source, share)));
      started += counts.reduce((sum, one) => sum + one, 0);
      // Whose share was not filled has no more that may run.
      if (hasMore ? places.active >= max : isWhole && counts.every((count) => count < share)) break;
      isSecondPass ||= !hasMore;
    }
    return started;
  }

  async function startOf(source: string, share: number): Promise<number> {
    const limit = Math.min(share, places.room(source));
    if (limit <= 0) return 0;
    places.take(source, limit);
    const leased = Promise.withResolvers<number>();
    const run = async () => {
      // Not before a suspect has ended that kept this one waiting: the lease begins now.
      const lease = newLease(receiver);
      const isOver = stopping.signal.aborted;
      const due = isOver ? [] : await store.failureLeases.leaseDue(lease, { state, source, limit });
      const running = due.map((failure) =>
        keep(source, runLeased({ failure, lease, kind }, stopping.signal, receiver)),
      );
      leased.resolve(due.length);
      await Promise.all(running);
    };
    runLock.shared(run).catch(leased.reject);
    let count = 0;
    try {
      count = await leased.promise;
      return count;
    } finally {
      places.release(source, limit - count);
    }
  }

  function keep(source: string, running: Promise<void>): Promise<void> {
    const run = running.finally(() => {
      atWork.delete(run);
      places.release(source);
      loop.wake();
    });
    atWork.add(run);
    return run;
  }

  const failed = (err: unknown) => log.error({ err, state }, "due events could not be looked up");
  const loop = createPoller(() => start(), failed);
  return {
    ...loop,
    /** Runs what is due, and what becomes due until `over`; resolves with how many once they have ended. */
    async round(over?: AbortSignal): Promise<number> {
      for (let ran = 0; ; await Promise.race(atWork)) {
        ran += await start(over);
        if (atWork.size === 0) return ran;
      }
    },
    async stop() {
      stopping.abort();
      await loop.stop();
      await Promise.all(atWork);
    },
  };
}

/** The first attempts of accepted events. */
export function createAcceptedPoller(receiver: Receiver) {
  const loop = createLeasedPoller("accepted", receiver);
  receiver.events.on("accepted", loop.wake);
  return loop;
}

/** How many suspects run in one round. */
const MAX_SUSPECTS = 8;

/**
 * The asynchronous retries of SPEC 1.10 and 8. The schedule is in the database, so that a restart forgets nothing. The
 * leases let any number of processes share the work. A failure is suspect if a process ended during its attempt: no
 * other failure runs beside it (decision 0041).
 */
export function createRetryPoller(receiver: Receiver) {
  const { runLock, log, clock } = receiver;
  const { failureLeases } = receiver.store;
  const stopping = new AbortController();
  const retries = createLeasedPoller("waiting", receiver);

  /** One by one, while no other runs. A suspect that ends the process interrupts no other attempt, and runs last again. */
  async function runSuspects(over?: AbortSignal): Promise<number> {
    for (let ran = 0; ran < MAX_SUSPECTS; ran += 1) {
      if (over?.aborted || stopping.signal.aborted || !(await failureLeases.isSuspectDue(clock.now()))) return ran;
      const isRun = await runLock.exclusive(async () => {
        const lease = newLease(receiver);
        const failure = await failureLeases.leaseSuspect(lease);
        if (failure !== undefined) await runLeased({ failure, lease, kind: "retry" }, stopping.signal, receiver);
        return failure !== undefined;
      });
      if (!isRun) return ran;
    }
    return MAX_SUSPECTS;
  }

  // A poller for suspects: one waits until no other failure runs, and these may be slow.
  const suspects = createPoller(
    () => runSuspects(),
    (error: unknown) => log.error({ err: error }, "suspects could not be looked up"),
  );
  return {
    start(intervalMs: number): void {
      retries.start(intervalMs);
      suspects.start(intervalMs);
    },
    rounds: retries.rounds,
    /** Runs what is due, and what becomes due until `over`, then the suspects; resolves with how many. */
    async round(over?: AbortSignal): Promise<number> {
      const ran = await retries.round(over);
      return ran + (await runSuspects(over));
    },
    async stop() {
      stopping.abort();
      await Promise.all([retries.stop(), suspects.stop()]);
    },
  };
}

async function runLeased({ failure, lease, kind }: LeasedRun, stopping: AbortSignal, receiver: Receiver) {
  const { owner, leaseEndsAt } = lease;
  const { source, eventId, retriesDone } = failure;
  const fields = { source, event_id: eventId, ...(kind === "retry" && { retry: retriesDone }) };
  try {
    const outcome = await runFailure({ failure, owner, leaseEndsAt, kind, stopping }, receiver);
    report(receiver, fields, kind, outcome);
  } catch (error) {
    receiver.log.error(
      { ...fields, err: error },
      `how the ${LABELS[kind]} ended could not be stored; it counts as cut off when its lease expires`,
    );
  }
}

interface LeasedRun {
  readonly failure: StoredFailure;
  readonly lease: ReturnType<typeof newLease>;
  readonly kind: "accepted" | "retry";
}

const LABELS = { accepted: "accepted event", retry: "retry" };

function report({ log }: Receiver, fields: object, kind: LeasedRun["kind"], outcome: AttemptOutcome): void {
  const what = LABELS[kind];
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
  else log.warn({ ...fields, code }, `${what} was rejected`);
}
