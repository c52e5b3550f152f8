import { setTimeout as sleep } from "node:timers/promises";
import { withTimeout } from "../system/index.ts";
import { StoreError, type StoreErrorReason } from "./store-errors.ts";

const FIRST_DELAY_MS = 5;
const MAX_DELAY_MS = 200;

/** The error of a try that had no time left to begin; it says less than the try before it. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** Retries until the deadline. @param transientReason a reason for an error that passes, which the StoreError gets */
export async function retryUntil<T>(
  deadline: Deadline,
  attempt: () => T | Promise<T>,
  transientReason: (error: unknown) => StoreErrorReason | undefined,
): Promise<T> {
  let before: unknown;
  for (const pause of backoffDelays()) {
    try {
      return await attempt();
    } catch (thrown) {
      const hadNoTime = thrown instanceof Error && thrown.cause instanceof OutOfTime;
      const error = hadNoTime ? (before ?? thrown) : thrown;
      before = error;
      const reason = transientReason(error);
      if (reason === undefined) throw error;
      const remaining = deadline - performance.now();
      if (remaining <= 0) throw new StoreError(reason, MESSAGES[reason], error);
      await sleep(Math.min(remaining, pause));
    }
  }
  throw new TypeError("the pauses never end");
}

/**
 * `retryUntil` for a look-up of a request, which changes nothing. One that is under way at the deadline ends by itself later.
 * @throws StoreError `unavailable` where it has no answer until the deadline
 */
export function lookUpUntil<T>(
  deadline: Deadline,
  look: () => Promise<T>,
  transientReason: (error: unknown) => StoreErrorReason | undefined,
): Promise<T> {
  const cause = new Error("the look-up was not answered until the deadline");
  const late = new StoreError("unavailable", MESSAGES.unavailable, cause);
  const attempt = async () => {
    const found = await withTimeout(look(), Math.max(0, deadline - performance.now()), late);
    if (found === late) throw late;
    return found as T;
  };
  return retryUntil(deadline, attempt, transientReason);
}

/** Milliseconds between attempts. The jitter keeps many processes from asking a database that just came back all at once. */
export function* backoffDelays(): Generator<number, never> {
  for (let pause = FIRST_DELAY_MS; ; pause = Math.min(pause * 2, MAX_DELAY_MS)) {
    yield pause * (0.5 + Math.random());
  }
}

export const MESSAGES: Record<StoreErrorReason, string> = {
  unavailable: "the database could not be reached, or stayed busy, until the deadline",
  in_progress: "another delivery of this event was still running at the deadline",
  commit_failed: "COMMIT was refused",
  commit_unknown: "the outcome of COMMIT is unknown",
};

/** Milliseconds on the scale of `performance.now()`, which no clock change can move. */
export type Deadline = number;
