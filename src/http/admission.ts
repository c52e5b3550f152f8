import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ConnectionLimit } from "./connection-limit.ts";

export class TokenBucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  #left: number;
  #countedAt = performance.now();

  constructor(perSecond: number, capacity = perSecond) {
    this.#perSecond = perSecond;
    this.#capacity = capacity;
    this.#left = capacity;
  }

  /** More than the capacity takes a full bucket, and leaves a debt. @returns whether there was enough */
  take(amount = 1): boolean {
    const now = performance.now();
    const refill = ((now - this.#countedAt) * this.#perSecond) / 1_000;
    this.#left = Math.min(this.#capacity, this.#left + refill);
    this.#countedAt = now;
    const hasEnough = Math.min(amount, this.#capacity) <= this.#left;
    if (hasEnough) this.#left -= amount;
    return hasEnough;
  }
}

export type AcceptGate = ReturnType<typeof createAcceptGate>;

const MAX_MS = 100;

/**
 * Node takes one new connection in each turn of the event loop, and with hundreds of requests a turn takes long: of as
 * many new connections the last would wait for seconds, before anything of it is seen. So as long as connections come,
 * a turn does what is under way, and begins nothing.
 */
export function createAcceptGate(maxMs = MAX_MS) {
  let hasArrived = false;
  let quiet: Promise<void> | undefined;
  async function wait(): Promise<void> {
    const end = performance.now() + maxMs;
    // The end of this turn; the next one shows whether another connection waits.
    await nextTurn();
    do {
      hasArrived = false;
      await nextTurn();
    } while (hasArrived && performance.now() < end);
    quiet = undefined;
  }
  return {
    connectionAccepted(): void {
      hasArrived = true;
      quiet ??= wait();
    },
    /** Resolves when no more arrive, or soon; undefined while there is nothing to wait for. */
    get quiet(): Promise<void> | undefined {
      return quiet;
    },
  };
}

export type OverloadThrottle = ReturnType<typeof createOverloadThrottle>;

/** A response takes about a twentieth of a millisecond, so that these are a twentieth of the time. */
const PER_SECOND = 1_000;
const BURST = 200;
/** Bounds the wait to a quarter of a second: past this number a response is sent at once. */
const MAX_WAITING = 250;
/** Clients that get their responses together retry together, which costs less than one by one. */
const CHECK_INTERVAL_MS = 20;

/**
 * A client that gets 503 for overload may retry at once, and enough of them would take all time from admitted requests. So past a
 * number a second their responses wait, for a moment at most where connections are in hundreds.
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

export type UnverifiedTurns = ReturnType<typeof createUnverifiedTurns>;

/** From its first byte a refusal takes 50 to 150 µs, so that these take a millisecond or two. */
const RESPONSES_A_TURN = 16;

/**
 * Bounds how many requests that are not authentic one turn of the event loop responds to.
 * A callback takes several turns of the event loop, and a turn takes as long as all that is ready in it: with a thousand connections
 * that ask again at once, a thousand refusals. A connection asks again after its response alone, so that responses bound all of it.
 * As many wait as there are connections, and these give way to new ones as idle ones do. While connections arrive, all wait.
 */
export function createUnverifiedTurns(
  { requestStarted, requestEnded }: Pick<ConnectionLimit, "requestStarted" | "requestEnded">,
  gate: Pick<AcceptGate, "quiet">,
  aTurn = RESPONSES_A_TURN,
) {
  const waiting: (() => void)[] = [];
  let left = aTurn;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(turn);
  }

  function turn(): void {
    if (gate.quiet === undefined) release();
    else void gate.quiet.then(release);
  }

  function release(): void {
    isScheduled = false;
    const due = waiting.splice(0, aTurn);
    left = aTurn - due.length;
    if (due.length > 0) schedule();
    for (const respond of due) respond();
  }

  return {
    /** Resolves in the turn that may respond to the next one; undefined when this one may. */
    next(socket: Socket): Promise<void> | undefined {
      schedule();
      if (left > 0) {
        left -= 1;
        return undefined;
      }
      requestEnded(socket);
      return new Promise<void>((resolve) => {
        waiting.push(() => {
          requestStarted(socket);
          resolve();
        });
      });
    },
  };
}
