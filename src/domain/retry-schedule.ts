/** SPEC 8: at most 3 asynchronous retries, 60 seconds apart; both configurable. */
export interface RetryPolicy {
  readonly max: number;
  readonly delaySeconds: number;
}

/**
 * When a failed event is tried next: `retriesDone` counts asynchronous retries, not the inline attempt.
 * Returns undefined when the retries are used up and the failure waits for a person.
 */
export function nextAttemptAt(policy: RetryPolicy, retriesDone: number, now: Date): Date | undefined {
  if (retriesDone >= policy.max) return undefined;
  return new Date(now.getTime() + policy.delaySeconds * 1000);
}

/** An attempt whose process ended before the attempt did. */
export interface CutOffAttempt {
  readonly kind: "retry" | "replay" | "bulk";
  /** Whether its process ran no other failure meanwhile. */
  readonly isAlone: boolean;
  /** Including this one. */
  readonly retriesDone: number;
  /** How many processes ended during its attempts since the last one that came to an end, including this one. */
  readonly uncleanEnds: number;
  readonly leasedAt: Date;
}

export interface AfterCutOff {
  readonly retriesDone: number;
  /** No automatic retry is left. Of a bulk replay: it does not try this failure again. */
  readonly isGivenUp: boolean;
  /** Undefined: the schedule stays as it is. */
  readonly nextAttemptAt: Date | undefined;
}

/** A bulk replay leaves a failure alone after so many process ends: one in company, and two of its own. */
const MOST_ENDS_IN_BULK = 3;

/**
 * What an attempt costs whose process ended. Alone it counts like any failed one. Beside others it counts too, but never as the
 * last one: the event that ended the process may have been another, and each of them gets an attempt of its own first.
 */
export function afterCutOff(policy: RetryPolicy, cutOff: CutOffAttempt, now: Date): AfterCutOff {
  const { kind, isAlone, retriesDone, uncleanEnds, leasedAt } = cutOff;
  if (kind !== "retry") {
    const isGivenUp = kind === "bulk" && isAlone && uncleanEnds >= MOST_ENDS_IN_BULK;
    return { retriesDone, isGivenUp, nextAttemptAt: undefined };
  }
  const isLast = retriesDone >= policy.max;
  if (isLast && isAlone) return { retriesDone, isGivenUp: true, nextAttemptAt: undefined };
  const due = Math.min(leasedAt.getTime(), now.getTime()) + policy.delaySeconds * 1000;
  return {
    retriesDone: isLast ? Math.max(0, policy.max - 1) : retriesDone,
    isGivenUp: false,
    nextAttemptAt: new Date(due),
  };
}
