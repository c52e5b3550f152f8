export const FAILURE_STATES = ["accepted", "waiting", "exhausted", "rejected"] as const;

/**
 * `accepted`: its first attempt is due or under way; `waiting` for a retry; `exhausted`: no retry is left; `rejected`: the
 * schema, the handler or the contract said no to an authentic event, and no retry is automatic.
 */
export type FailureState = (typeof FAILURE_STATES)[number];

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
export interface AttemptInterruption {
  readonly kind: "accepted" | "retry" | "replay" | "bulk";
  /** Whether its process ran no other failure meanwhile. */
  readonly isAlone: boolean;
  /** Including this one. */
  readonly retriesDone: number;
  /** How many processes ended during its attempts since the last one that came to an end, including this one. */
  readonly crashes: number;
  readonly leasedAt: Date;
}

/** A bulk replay leaves a failure alone after so many process ends: one in company, and two of its own. */
const MAX_ENDS_IN_BULK = 3;
/** An accepted event runs beside others as long as no more processes have ended during its attempts. */
const MAX_ENDS_BESIDE = 1;

/** What follows from an attempt that its process did not survive. */
export interface AfterInterruption {
  readonly retriesDone: number;
  /** No automatic retry is left, or the bulk replay does not try this failure again. */
  readonly isGivenUp: boolean;
  /** Absent: the schedule stays as it is. */
  readonly nextAttemptAt?: Date;
  /** An accepted event stays one: its next attempt is its first again, beside others. */
  readonly staysAccepted?: true;
}

/**
 * What an attempt costs whose process ended. Alone it counts like any failed one. Beside others it counts too, but never as the
 * last one: the event that ended the process may have been another, and each of them gets an attempt of its own first.
 * The first attempts of accepted events are many at a time, and mostly it was a kill from outside: they run beside each
 * other once more before they are suspect.
 */
export function afterInterruption(
  policy: RetryPolicy,
  interrupted: AttemptInterruption,
  now: Date,
): AfterInterruption {
  const { kind, isAlone, retriesDone, crashes, leasedAt } = interrupted;
  if (kind === "accepted" && crashes <= MAX_ENDS_BESIDE)
    return { retriesDone, isGivenUp: false, staysAccepted: true };
  if (kind === "replay" || kind === "bulk") {
    const isGivenUp = kind === "bulk" && isAlone && crashes >= MAX_ENDS_IN_BULK;
    return { retriesDone, isGivenUp };
  }
  const isLast = retriesDone >= policy.max;
  if (isLast && isAlone) return { retriesDone, isGivenUp: true };
  const due = Math.min(leasedAt.getTime(), now.getTime()) + policy.delaySeconds * 1000;
  return {
    retriesDone: isLast ? Math.max(0, policy.max - 1) : retriesDone,
    isGivenUp: false,
    nextAttemptAt: new Date(due),
  };
}

/** How often and how long a notification is tried on one channel. */
export interface DeliveryPolicy {
  /** Attempts in all; after the last one the delivery is dead and waits for a person. */
  readonly attempts: number;
  /** Time before the second attempt; each further one comes four times later than the one before. */
  readonly firstDelaySeconds: number;
}

const GROWTH = 4;
const MAX_DELAY_SECONDS = 12 * 3_600;
/** Spreads requests to a receiver that is reachable again over time. */
const JITTER = 0.2;

/**
 * When a delivery that failed `attemptsDone` times is tried next; undefined when the attempts are used up.
 * @param chance from 0 up to 1, drawn for each call
 * @param retryAfterSeconds seconds that the receiver asked for (`Retry-After`)
 */
export function nextDeliveryAt(
  policy: DeliveryPolicy,
  attemptsDone: number,
  now: Date,
  chance: number,
  retryAfterSeconds = 0,
): Date | undefined {
  if (attemptsDone >= policy.attempts) return undefined;
  const grown = policy.firstDelaySeconds * GROWTH ** (attemptsDone - 1);
  const jittered = Math.min(grown, MAX_DELAY_SECONDS) * (1 - JITTER + 2 * JITTER * chance);
  const seconds = Math.max(jittered, Math.min(retryAfterSeconds, MAX_DELAY_SECONDS));
  return new Date(now.getTime() + Math.round(seconds * 1000));
}
