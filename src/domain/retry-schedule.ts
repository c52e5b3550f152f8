import { DAY_MS, type Duration, durationMs } from "./duration.ts";

export const FAILURE_STATES = ["accepted", "waiting", "exhausted", "rejected"] as const;

/**
 * `accepted`: its first attempt is due or under way; `waiting` for a retry; `exhausted`: no retry is left; `rejected`: the
 * schema, the handler or the contract said no to an authentic event, which is not retried.
 */
export type FailureState = (typeof FAILURE_STATES)[number];

/** The `retry` of a source or a handler, such as `{ for: "72h", first: "30s", factor: 2, max: "1h" }`. */
export interface RetryOptions {
  /** How long an event is tried again before its retries are exhausted; `0s` for no retry. Up to `365d`. */
  readonly for?: Duration;
  /** Before the first retry, from `50ms`. */
  readonly first?: Duration;
  /** Each further delay is so many times as long as the one before: 1, or 1.1 to 10. */
  readonly factor?: number;
  /** The longest delay, up to `1d`. */
  readonly max?: Duration;
}

const DELAYS = { least: 50, most: DAY_MS, expected: 'a time from "50ms" to "1d"' };
const TIMES = {
  for: { least: 0, most: 365 * DAY_MS, expected: 'a time from "0s" to "365d"' },
  first: DELAYS,
  max: DELAYS,
};

/** @returns the fault of a `retry`, in words that follow its name; undefined where there is none */
export function retryFault(retry: unknown): string | undefined {
  if (typeof retry !== "object" || retry === null || Array.isArray(retry))
    return `got ${JSON.stringify(retry)}, expected such as { for: "72h", first: "30s", factor: 2, max: "1h" }`;
  for (const [name, value] of Object.entries(retry)) {
    const got = `\`${name}\`: got ${JSON.stringify(value)}, expected`;
    if (name === "factor") {
      const isFactor = typeof value === "number" && (value === 1 || value >= 1.1) && value <= 10;
      if (!isFactor) return `${got} 1, or a number from 1.1 to 10`;
      continue;
    }
    if (!Object.hasOwn(TIMES, name)) return `\`${name}\`: no such option; there are for, first, factor and max`;
    const { least, most, expected } = TIMES[name as keyof typeof TIMES];
    const ms = durationMs(value);
    if (!(ms >= least && ms <= most)) return `${got} ${expected}`;
  }
  const { first, max } = retry as RetryOptions;
  if (durationMs(first) > durationMs(max)) return `\`first\`: got "${first}", expected no more than \`max\` ("${max}")`;
  return undefined;
}

/** How often something is tried again, and after which times. */
export interface RetryPolicy {
  /** Automatic retries, the first attempt not among them. */
  readonly max: number;
  /** Milliseconds before each retry; the last one stands for all further ones. */
  readonly delaysMs: readonly number[];
  /** The share by which chance prolongs a delay at most: many that failed together do not come due together. */
  readonly jitter: number;
}

/** Spreads retries over time once the service that they need is back. */
const JITTER = 0.2;

/** SPEC 8: at most 3 asynchronous retries, 60 seconds apart; both configurable. */
export function fixedRetries(max: number, delaySeconds: number): RetryPolicy {
  return { max, delaysMs: [delaySeconds * 1_000], jitter: 0 };
}

export interface Backoff {
  readonly firstMs: number;
  /** Each delay is so many times as long as the one before; from 1. */
  readonly factor: number;
  readonly maxMs: number;
}

export function growingRetries(max: number, { firstMs, factor, maxMs }: Backoff): RetryPolicy {
  const delaysMs = [Math.min(firstMs, maxMs)];
  for (let next = firstMs; factor > 1 && next < maxMs; delaysMs.push(next)) next = Math.min(next * factor, maxMs);
  return { max, delaysMs, jitter: JITTER };
}

/** As many retries as fill `for`. They are counted, not timed: a receiver that was down for days still makes them all. */
export function retriesFor(options: Required<RetryOptions>): RetryPolicy {
  const { factor } = options;
  const backoff = { firstMs: durationMs(options.first), factor, maxMs: durationMs(options.max) };
  const { delaysMs, ...policy } = growingRetries(0, backoff);
  let [max, leftMs] = [0, durationMs(options.for)];
  for (; max < delaysMs.length - 1 && leftMs > 0; max += 1) leftMs -= delaysMs[max] as number;
  const lastMs = delaysMs.at(-1) as number;
  return { ...policy, delaysMs, max: max + Math.max(0, Math.ceil(leftMs / lastMs)) };
}

const DEFAULTS = { first: "30s", factor: 2, max: "1h" } as const;
const LEAST_HOURS = 72;

/** As long as the platform itself tries, at least three days. @param platformHours 0 where it never tries again */
export function sourceRetry(platformHours = 0, options: RetryOptions = {}): Required<RetryOptions> {
  return { for: `${Math.max(LEAST_HOURS, platformHours)}h`, ...DEFAULTS, ...options };
}

/** @param chance from 0 up to 1, drawn for each call @returns milliseconds from an attempt to the retry after it */
export function retryDelayMs({ delaysMs, jitter }: RetryPolicy, retriesDone: number, chance: number): number {
  const delayMs = delaysMs[Math.min(retriesDone, delaysMs.length - 1)] as number;
  return Math.round(delayMs * (1 + jitter * chance));
}

/**
 * When a failed event is tried next: `retriesDone` counts asynchronous retries, not the first attempt.
 * @param chance from 0 up to 1, drawn for each call
 * @returns undefined when the retries are exhausted
 */
export function nextAttemptAt(policy: RetryPolicy, retriesDone: number, now: Date, chance: number): Date | undefined {
  if (retriesDone >= policy.max) return undefined;
  return new Date(now.getTime() + retryDelayMs(policy, retriesDone, chance));
}

/** The time of the last retry if all fail, without jitter. @param next the time of the next one */
export function givesUpAt({ max, delaysMs }: RetryPolicy, retriesDone: number, next: Date): Date {
  const growing = delaysMs.slice(retriesDone + 1, max);
  const further = Math.max(0, max - Math.max(retriesDone + 1, delaysMs.length));
  const restMs = growing.reduce((sum, one) => sum + one, further * (delaysMs.at(-1) as number));
  return new Date(next.getTime() + restMs);
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

/** A bulk replay skips a failure after so many process ends: one beside others, and two by itself. */
const MAX_ENDS_IN_BULK = 3;
/** An accepted event runs beside others as long as no more processes have ended during its attempts. */
const MAX_ENDS_BESIDE = 1;

/** The consequences of an attempt whose process ended. */
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
 * The cost of an attempt whose process ended. By itself it counts like any failed one. Beside others it counts too, but
 * never as the last one. Another event may have ended the process, so that each first gets an attempt by itself. Many first
 * attempts of accepted events run at a time, and a kill from outside is the likely cause. So they run beside each other
 * once more before they are suspect.
 */
export function afterInterruption(
  policy: RetryPolicy,
  interrupted: AttemptInterruption,
  now: Date,
  chance: number,
): AfterInterruption {
  const { kind, isAlone, retriesDone, crashes, leasedAt } = interrupted;
  if (kind === "accepted" && crashes <= MAX_ENDS_BESIDE) return { retriesDone, isGivenUp: false, staysAccepted: true };
  if (kind === "replay" || kind === "bulk") {
    const isGivenUp = kind === "bulk" && isAlone && crashes >= MAX_ENDS_IN_BULK;
    return { retriesDone, isGivenUp };
  }
  const isLast = retriesDone >= policy.max;
  if (isLast && isAlone) return { retriesDone, isGivenUp: true };
  const due = Math.min(leasedAt.getTime(), now.getTime()) + retryDelayMs(policy, retriesDone, chance);
  return {
    retriesDone: isLast ? Math.max(0, policy.max - 1) : retriesDone,
    isGivenUp: false,
    nextAttemptAt: new Date(due),
  };
}
