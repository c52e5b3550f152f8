import { type Clock, createWindowLimit, type Log, type Refused, refused } from "../domain/index.ts";
import type { RateCount } from "../store/index.ts";

export interface RateLimit {
  readonly points: number;
  readonly windowSeconds: number;
}

/** Counts a hit under a key in a window that begins with its first hit. */
export type CountHit = (key: string, windowMs: number, now: Date) => RateCount | Promise<RateCount>;

/** The same, told how many hits are let through: beyond that a count says no more than that it is beyond. */
export type CountUpTo = (...hit: [...Parameters<CountHit>, most: number]) => ReturnType<CountHit>;

/** A limit with the name it goes by in `RateLimit-Policy`. */
export interface Policy extends RateLimit {
  readonly name: string;
}

export interface RateLimitResult {
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Refused | undefined;
}

const MAX_COUNTERS = 100_000;

/** Whether a window is under way. One that ends more than a window from now started before the clock was set back. */
function isCurrent(resetAt: Date, windowMs: number, now: Date): boolean {
  const left = resetAt.getTime() - now.getTime();
  return left > 0 && left <= windowMs;
}

/** Counters in this process, bounded in number: the oldest one makes room, so a flood of addresses costs no memory. */
export function createMemoryCounter(most = MAX_COUNTERS): CountHit {
  const counters = new Map<string, { points: number; resetAt: Date }>();
  return (key, windowMs, now) => {
    let counter = counters.get(key);
    if (counter === undefined || !isCurrent(counter.resetAt, windowMs, now)) {
      counters.delete(key);
      const [oldest] = counters.keys();
      if (counters.size >= most && oldest !== undefined) counters.delete(oldest);
      counter = { points: 0, resetAt: new Date(now.getTime() + windowMs) };
      counters.set(key, counter);
    }
    counter.points += 1;
    return { points: counter.points, resetAt: counter.resetAt };
  };
}

/** How long a request may wait for the shared count, and for how long it is then left alone. */
const SHARED_TIMEOUT_MS = 250;
const COOLDOWN_MS = 5_000;

/**
 * Counts in the database, and in this process while the database is slow or away: a limit never becomes an outage,
 * and a stranger's request never waits long for a count.
 */
export function withFallback(shared: CountHit, clock: Clock, log: Log): CountHit {
  const local = createMemoryCounter();
  let coolingDownUntil = Number.NEGATIVE_INFINITY;
  const mayWarn = createWindowLimit(1, 60_000);
  return async (key, windowMs, now) => {
    if (performance.now() < coolingDownUntil) return local(key, windowMs, now);
    try {
      return await withTimeout(Promise.resolve(shared(key, windowMs, now)));
    } catch (error) {
      coolingDownUntil = performance.now() + COOLDOWN_MS;
      if (mayWarn(clock.now())) {
        log.warn(
          { err: error },
          "the rate limits count in this process only: the database did not answer in time",
        );
      }
      return local(key, windowMs, now);
    }
  };
}

/** An address over its limit stays over it until the window ends: it needs no further count in the database. */
export function cacheExceeded(count: CountHit): CountUpTo {
  const exceeded = new Map<string, RateCount>();
  return async (key, windowMs, now, most) => {
    const known = exceeded.get(key);
    if (known !== undefined && isCurrent(known.resetAt, windowMs, now)) return known;
    exceeded.delete(key);
    const counted = await count(key, windowMs, now);
    if (counted.points > most) {
      const [oldest] = exceeded.keys();
      if (exceeded.size >= MAX_COUNTERS && oldest !== undefined) exceeded.delete(oldest);
      exceeded.set(key, counted);
    }
    return counted;
  };
}

async function withTimeout<T>(counting: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`no count within ${SHARED_TIMEOUT_MS} ms`)),
    SHARED_TIMEOUT_MS,
  );
  try {
    return await Promise.race([counting, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Counts one request of an address against every policy that applies to it. */
export async function applyRateLimits(
  policies: readonly Policy[],
  address: string,
  count: CountUpTo,
  now: Date,
): Promise<RateLimitResult> {
  const counting = policies.map((policy) =>
    count(`${policy.name} ${address}`, policy.windowSeconds * 1000, now, policy.points),
  );
  const counts = await Promise.all(counting);
  const states = [];
  for (const [index, policy] of policies.entries()) {
    const counted = counts[index] as RateCount;
    // Another process, whose clock is ahead, may have started the window.
    const left = Math.ceil((counted.resetAt.getTime() - now.getTime()) / 1000);
    const reset = Math.min(policy.windowSeconds, Math.max(1, left));
    states.push({
      policy,
      reset,
      left: Math.max(0, policy.points - counted.points),
      over: counted.points > policy.points,
    });
  }
  const headers = {
    "ratelimit-policy": states
      .map(({ policy: p }) => `"${p.name}";q=${p.points};w=${p.windowSeconds}`)
      .join(", "),
    ratelimit: states.map(({ policy, left, reset }) => `"${policy.name}";r=${left};t=${reset}`).join(", "),
  };
  const exceeded = states.filter(({ over }) => over);
  if (exceeded.length === 0) return { headers, refusal: undefined };
  const retryAfterSeconds = Math.max(...exceeded.map(({ reset }) => reset));
  const detail = `over ${exceeded.map(({ policy }) => policy.name).join(" and ")}`;
  return { headers, refusal: { ...refused("too_many_requests", { detail }), retryAfterSeconds } };
}
