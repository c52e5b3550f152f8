/** Spreads over time what it costs to turn requests away. */
export interface TurningAway {
  /** Resolves when the next one may be; undefined when it may at once. */
  next(): Promise<void> | undefined;
}

/** A refusal takes about a twentieth of a millisecond, so that these are a twentieth of the time. */
const A_SECOND = 1_000;
const AT_ONCE = 200;
/** Nobody waits longer than a quarter of a second for it: past this number they are told at once after all. */
const MOST_WAITING = 250;
/** Those who are answered together come again together, which costs less than one by one. */
const LOOK_EVERY_MS = 20;

/**
 * Who is turned away may come again at once, and as many as do would take all the time from those who were let in. So past
 * a number a second they wait for their answer, a moment at the most where connections are in hundreds.
 */
export function createTurningAway(aSecond = A_SECOND, atOnce = AT_ONCE): TurningAway {
  const waiting: (() => void)[] = [];
  let left = atOnce;
  let counted = performance.now();
  let isLooking = false;

  function count(): void {
    const now = performance.now();
    left = Math.min(atOnce, left + ((now - counted) * aSecond) / 1_000);
    counted = now;
  }

  function lookSoon(): void {
    if (isLooking) return;
    isLooking = true;
    setTimeout(look, LOOK_EVERY_MS);
  }

  function look(): void {
    isLooking = false;
    count();
    const due = waiting.splice(0, Math.floor(left));
    left -= due.length;
    for (const go of due) go();
    if (waiting.length > 0) lookSoon();
  }

  return {
    next() {
      count();
      if (waiting.length >= MOST_WAITING) return undefined;
      if (waiting.length === 0 && left >= 1) {
        left -= 1;
        return undefined;
      }
      lookSoon();
      return new Promise<void>((resolve) => void waiting.push(resolve));
    },
  };
}
