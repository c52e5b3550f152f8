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
