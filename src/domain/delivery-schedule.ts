/** How often and how long a notification is tried on one channel. */
export interface DeliveryPolicy {
  /** Attempts in all; after the last one the delivery is dead and waits for a person. */
  readonly attempts: number;
  /** Time before the second attempt; each further one comes four times later than the one before. */
  readonly firstDelaySeconds: number;
}

const GROWTH = 4;
const LONGEST_SECONDS = 12 * 3_600;
/** A receiver that comes back is not asked by everybody in the same second. */
const JITTER = 0.2;

/**
 * When a delivery that failed `attemptsDone` times is tried next; undefined when the attempts are used up.
 * @param chance from 0 up to 1, drawn anew each time
 * @param askedFor seconds that the receiver asked for (`Retry-After`)
 */
export function nextDeliveryAt(
  policy: DeliveryPolicy,
  attemptsDone: number,
  now: Date,
  chance: number,
  askedFor = 0,
): Date | undefined {
  if (attemptsDone >= policy.attempts) return undefined;
  const grown = policy.firstDelaySeconds * GROWTH ** (attemptsDone - 1);
  const jittered = Math.min(grown, LONGEST_SECONDS) * (1 - JITTER + 2 * JITTER * chance);
  const seconds = Math.max(jittered, Math.min(askedFor, LONGEST_SECONDS));
  return new Date(now.getTime() + Math.round(seconds * 1000));
}
