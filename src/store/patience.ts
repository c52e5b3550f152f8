import { setTimeout as sleep } from "node:timers/promises";
import type { Deadline } from "./store.ts";
import { StoreFault, type StoreFaultReason } from "./store-fault.ts";
import { unlessLate } from "./unless-late.ts";

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

/** What a try fails with that had no time left to begin; it says less than the try before it. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/**
 * Repeats what a passing hindrance stopped (a busy database, a restart, a deadlock) until the deadline. A first
 * look that met a busy database must not become a verdict on the event.
 * @param hindrance tells whether an error passes by itself, and what it is when it does not in time
 */
export async function withPatience<T>(
  deadline: Deadline,
  attempt: () => T | Promise<T>,
  hindrance: (error: unknown) => StoreFaultReason | undefined,
): Promise<T> {
  let before: unknown;
  for (const pause of pauses()) {
    try {
      return await attempt();
    } catch (thrown) {
      const hadNoTime = thrown instanceof Error && thrown.cause instanceof OutOfTime;
      const error = hadNoTime ? (before ?? thrown) : thrown;
      before = error;
      const reason = hindrance(error);
      if (reason === undefined) throw error;
      const remaining = deadline - performance.now();
      if (remaining <= 0) throw new StoreFault(reason, SENTENCES[reason], error);
      await sleep(Math.min(remaining, pause));
    }
  }
  throw new TypeError("the pauses never end");
}

/**
 * The same for a look-up of a request, which changes nothing: one that is under way at the deadline ends by itself later.
 * @throws StoreFault `unavailable` where it has no answer until the deadline
 */
export function lookUpUntil<T>(
  deadline: Deadline,
  look: () => Promise<T>,
  hindrance: (error: unknown) => StoreFaultReason | undefined,
): Promise<T> {
  const late = new StoreFault(
    "unavailable",
    SENTENCES.unavailable,
    new Error("the look-up was not answered until the deadline"),
  );
  const attempt = async () => {
    const found = await unlessLate(look(), Math.max(0, deadline - performance.now()), late);
    if (found === late) throw late;
    return found as T;
  };
  return withPatience(deadline, attempt, hindrance);
}

/** Milliseconds between attempts. The jitter keeps many processes from asking a database that just came back all at once. */
export function* pauses(): Generator<number, never> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    yield pause * (0.5 + Math.random());
  }
}

const SENTENCES: Record<StoreFaultReason, string> = {
  unavailable: "the database could not be reached, or stayed busy, until the deadline",
  in_progress: "another delivery of this event was still running at the deadline",
  commit_failed: "COMMIT was refused",
  commit_unknown: "nobody knows whether COMMIT happened",
};
