import { TokenBucket } from "../system/index.ts";

export type OverloadThrottle = ReturnType<typeof createOverloadThrottle>;

/** A response takes about a twentieth of a millisecond, so that these are a twentieth of the time. */
const PER_SECOND = 1_000;
const BURST = 200;
/** Bounds the wait to a quarter of a second: past this number a response is sent at once. */
const MAX_WAITING = 250;
/** Clients that get their responses together retry together, which costs less than one by one. */
const CHECK_INTERVAL_MS = 20;

/**
 * A client that gets 503 for overload may retry at once. Enough of them would take all time from admitted requests. So
 * past a number a second their responses wait, for a moment at most where connections are in hundreds.
 */
export function createOverloadThrottle(perSecond = PER_SECOND, burst = BURST) {
  const waiting: (() => void)[] = [];
  const bucket = new TokenBucket(perSecond, burst);
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(releaseDue, CHECK_INTERVAL_MS);
  }

  function releaseDue(): void {
    isScheduled = false;
    while (waiting.length > 0 && bucket.take()) waiting.shift()?.();
    if (waiting.length > 0) schedule();
  }

  return {
    /** Resolves when the next response may be sent; undefined when it may at once. */
    wait(): Promise<void> | undefined {
      if (waiting.length >= MAX_WAITING) return undefined;
      if (waiting.length === 0 && bucket.take()) return undefined;
      schedule();
      return new Promise<void>((resolve) => void waiting.push(resolve));
    },
  };
}
