import type { Socket } from "node:net";
import type { ConnectionLimit } from "./connection-limit.ts";
import type { Doorway } from "./doorway.ts";

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

/** Bounds how many requests that are not authentic one turn of the event loop responds to. */
export interface UnverifiedTurns {
  /** Resolves in the turn that may respond to the next one; undefined when this one may. */
  next(socket: Socket): Promise<void> | undefined;
}

/** From its first byte a refusal takes 50 to 150 µs, so that these take a millisecond or two. */
const RESPONSES_A_TURN = 16;

/**
 * A callback takes several turns of the event loop, and a turn takes as long as all that is ready in it: with a thousand connections
 * that ask again at once, a thousand refusals. A connection asks again after its response alone, so that responses bound all of it.
 * As many wait as there are connections, and these give way to new ones as idle ones do. While connections arrive, all wait.
 */
export function createUnverifiedTurns(
  { began, ended }: Pick<ConnectionLimit, "began" | "ended">,
  doorway: Pick<Doorway, "clear">,
  aTurn = RESPONSES_A_TURN,
): UnverifiedTurns {
  const waiting: (() => void)[] = [];
  let left = aTurn;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(turn);
  }

  function turn(): void {
    if (doorway.clear === undefined) release();
    else void doorway.clear.then(release);
  }

  function release(): void {
    isScheduled = false;
    const due = waiting.splice(0, aTurn);
    left = aTurn - due.length;
    if (due.length > 0) schedule();
    for (const respond of due) respond();
  }

  return {
    next(socket) {
      schedule();
      if (left > 0) {
        left -= 1;
        return undefined;
      }
      ended(socket);
      return new Promise<void>((resolve) => {
        waiting.push(() => {
          began(socket);
          resolve();
        });
      });
    },
  };
}
