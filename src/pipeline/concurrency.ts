import { type EventKey, type Failed, failed, keyText, type Outcome } from "../domain/index.ts";
import { type Deadline, StoreError } from "../store/index.ts";

/** Lets the deliveries of one event through one by one, within this process. */
export interface EventLock {
  /** @param run told whether it had to wait for another delivery of the event */
  run(key: EventKey, deadline: Deadline, run: (hasWaited: boolean) => Promise<Outcome>): Promise<Outcome>;
}

/**
 * The store alone keeps "once"; this keeps a burst of duplicates from holding a database connection each while
 * they wait for the first. Whoever waits past the deadline is told that the end is not known.
 */
export function createEventLock(): EventLock {
  const last = new Map<string, Promise<unknown>>();
  const forget = (name: string, tail: Promise<unknown>) => {
    if (last.get(name) === tail) last.delete(name);
  };
  return {
    async run(key, deadline, run) {
      const name = keyText(key);
      const before = last.get(name);
      const mine =
        before === undefined
          ? faultsAsOutcome(() => run(false))
          : runAfter(before, deadline, () => run(true));
      // Whoever comes next waits for the runs themselves, not for an answer that was given up at its deadline.
      const tail = before === undefined ? mine : Promise.all([before, mine]);
      last.set(name, tail);
      const outcome = await mine;
      if (before === undefined) forget(name, tail);
      else void tail.then(() => forget(name, tail));
      return outcome;
    },
  };
}

async function runAfter(
  before: Promise<unknown>,
  deadline: Deadline,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), Math.max(0, deadline - performance.now()));
  const came = await Promise.race([before, late.promise]);
  clearTimeout(timer);
  if (came !== "late") return faultsAsOutcome(run);
  return failed(
    "event_in_progress",
    new Error("another delivery of this event was still running at the deadline"),
  );
}

/** A fault outside the attempt itself (the first look, say) is an outcome too: it must not stop those who wait. */
export async function faultsAsOutcome(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    return failed(error instanceof StoreError ? "store_unavailable" : "internal", error);
  }
}

/** Lets runs of failures go on beside each other, and a suspect alone: a process that ends then ended during its run. */
export interface RunLock {
  shared<T>(run: () => Promise<T>): Promise<T>;
  /** Waits for the runs that have begun; those that come later wait for this one. */
  exclusive<T>(run: () => Promise<T>): Promise<T>;
}

export function createRunLock(): RunLock {
  /** Resolves when the last run that goes alone has ended. */
  let lastExclusive: Promise<unknown> = Promise.resolve();
  let running: Promise<unknown>[] = [];

  function track<T>(run: Promise<T>): Promise<T> {
    const settled = run.then(
      () => {},
      () => {},
    );
    running.push(settled);
    void settled.then(() => {
      running = running.filter((one) => one !== settled);
    });
    return run;
  }

  return {
    shared(run) {
      return track(lastExclusive.then(run));
    },
    exclusive(run) {
      const mine = Promise.all([lastExclusive, ...running]).then(run);
      lastExclusive = mine.then(
        () => {},
        () => {},
      );
      return mine;
    },
  };
}

/** Bounds how many callbacks are at work, or wait for the store, at a time. */
export interface ConcurrencyLimit {
  readonly active: number;
  /** Why nobody is let in now; undefined while there is a place. */
  overload(): Failed | undefined;
  /** Runs the rest of a callback that is authentic, or says at once that there is no place for it. */
  run<Ending>(run: () => Promise<Ending>): Promise<Ending | { readonly outcome: Failed }>;
}

/**
 * Whoever waits longer than his platform does is handled in vain, and keeps the others waiting. So past a bound the
 * answer is given at once: how long an accepted one takes, and how much memory they all need, stays as it is however
 * many come.
 */
export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const full = failed(
    "overloaded",
    `${max} callbacks are at work or wait for the database (MAX_WAITING_CALLBACKS)`,
  );
  let active = 0;
  const overload = () => (active < max ? undefined : full);
  return {
    get active() {
      return active;
    },
    overload,
    async run(run) {
      const outcome = overload();
      if (outcome !== undefined) return { outcome };
      active += 1;
      try {
        return await run();
      } finally {
        active -= 1;
      }
    },
  };
}
