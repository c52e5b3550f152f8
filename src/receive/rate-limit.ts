import { type Clock, createSparingLog, type Log, refused, WindowMap } from "../domain/index.ts";
import type { RateCount } from "../store/index.ts";
import { withTimeout } from "../system/index.ts";

/** Counts a hit under a key in a window that begins with its first hit. */
export type CountHit = (key: string, windowMs: number, now: Date) => RateCount | Promise<RateCount>;

/** The same with the number of hits that are let through: a count beyond it need not be exact. */
export type CountUpTo = (...hit: [...Parameters<CountHit>, max: number]) => ReturnType<CountHit>;

/** A limit with the name it goes by in `RateLimit-Policy`. */
export interface Policy {
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
}

const MAX_COUNTERS = 100_000;

export function createMemoryCounter(max = MAX_COUNTERS): CountHit {
  const counters = new WindowMap<{ points: number; readonly resetAt: Date }>(max);
  return (key, windowMs, now) => {
    const start = () => counters.set(key, { points: 0, resetAt: new Date(now.getTime() + windowMs) });
    const counter = counters.get(key, windowMs, now) ?? start();
    counter.points += 1;
    return { ...counter };
  };
}

/** A request's longest wait for the shared count, and the pause after a failure in which none asks for it. */
const SHARED_TIMEOUT_MS = 250;
const COOLDOWN_MS = 5_000;

/** Counts in this process while the database is slow or away. So no limit becomes an outage, and no request waits. */
export function withFallback(shared: CountHit, clock: Clock, log: Log): CountHit {
  const local = createMemoryCounter();
  let coolingDownUntil = Number.NEGATIVE_INFINITY;
  const sparing = createSparingLog(log, clock);
  return async (key, windowMs, now) => {
    if (performance.now() < coolingDownUntil) return local(key, windowMs, now);
    try {
      const counted = await withTimeout(Promise.resolve(shared(key, windowMs, now)), SHARED_TIMEOUT_MS, undefined);
      if (counted !== undefined) return counted;
      throw new Error(`no count within ${SHARED_TIMEOUT_MS} ms`);
    } catch (error) {
      coolingDownUntil = performance.now() + COOLDOWN_MS;
      const message = "the rate limits count in this process only: the database did not answer in time";
      sparing("warn", { fields: { err: error }, message });
      return local(key, windowMs, now);
    }
  };
}

/** An address over its limit stays over it until the window ends: it needs no further count in the database. */
export function cacheExceeded(count: CountHit): CountUpTo {
  const exceeded = new WindowMap<RateCount>(MAX_COUNTERS);
  return async (key, windowMs, now, max) => {
    const known = exceeded.get(key, windowMs, now);
    if (known !== undefined) return known;
    const counted = await count(key, windowMs, now);
    return counted.points > max ? exceeded.set(key, counted) : counted;
  };
}

/**
 * Counts one request of an address against every policy that applies to it.
 * @returns `headers`: `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers)
 */
export async function applyRateLimits(policies: readonly Policy[], address: string, count: CountUpTo, now: Date) {
  const counting = policies.map(async ({ name, points, windowSeconds }) => {
    const counted = await count(`${name} ${address}`, windowSeconds * 1000, now, points);
    const seconds = Math.ceil((counted.resetAt.getTime() - now.getTime()) / 1000);
    // Another process, whose clock is ahead, may have started the window.
    return { name, left: points - counted.points, reset: Math.min(windowSeconds, Math.max(1, seconds)) };
  });
  const states = await Promise.all(counting);
  const headers = {
    "ratelimit-policy": policies.map((p) => `"${p.name}";q=${p.points};w=${p.windowSeconds}`).join(", "),
    ratelimit: states.map((s) => `"${s.name}";r=${Math.max(0, s.left)};t=${s.reset}`).join(", "),
  };
  const exceeded = states.filter(({ left }) => left < 0);
  if (exceeded.length === 0) return { headers, refusal: undefined };
  const retryAfterSeconds = Math.max(...exceeded.map(({ reset }) => reset));
  const detail = `over ${exceeded.map(({ name }) => name).join(" and ")}`;
  return { headers, refusal: { ...refused("too_many_requests", { detail }), retryAfterSeconds } };
}
