import { type EventKey, failed, keyText, type Outcome } from "../domain/index.ts";
import { type Deadline, StoreFault } from "../store/index.ts";

/** Lets the deliveries of one event through one by one, within this process. */
export interface SingleFlight {
  /** @param run told whether it had to wait for another delivery of the event */
  take(key: EventKey, deadline: Deadline, run: (hasWaited: boolean) => Promise<Outcome>): Promise<Outcome>;
}

/**
 * The store alone keeps "once"; this keeps a burst of duplicates from holding a database connection each while
 * they wait for the first. Whoever waits past the deadline is told that the end is not known.
 */
export function createSingleFlight(): SingleFlight {
  const last = new Map<string, Promise<unknown>>();
  const forget = (name: string, tail: Promise<unknown>) => {
    if (last.get(name) === tail) last.delete(name);
  };
  return {
    async take(key, deadline, run) {
      const name = keyText(key);
      const before = last.get(name);
      const mine =
        before === undefined ? guardedRun(() => run(false)) : after(before, deadline, () => run(true));
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

async function after(
  before: Promise<unknown>,
  deadline: Deadline,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), Math.max(0, deadline - performance.now()));
  const came = await Promise.race([before, late.promise]);
  clearTimeout(timer);
  if (came !== "late") return guardedRun(run);
  return failed(
    "event_in_progress",
    new Error("another delivery of this event was still running at the deadline"),
  );
}

/** A fault outside the attempt itself (the first look, say) is an outcome too: it must not stop those who wait. */
export async function guardedRun(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    return failed(error instanceof StoreFault ? "store_unavailable" : "internal", error);
  }
}
