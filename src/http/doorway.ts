import { setImmediate as nextTurn } from "node:timers/promises";

/** Lets requests wait while new connections are taken. */
export interface Doorway {
  /** Told of each new connection. */
  arrived(): void;
  /** Resolves when no more arrive, or soon; undefined while there is nothing to wait for. */
  readonly clear: Promise<void> | undefined;
}

const MOST_MS = 100;

/**
 * Node takes one new connection in each turn of the event loop, and with hundreds of requests a turn takes long: of as
 * many new connections the last would wait for seconds, before anything of it is seen. So as long as connections come,
 * a turn does what is under way, and begins nothing.
 */
export function createDoorway(mostMs = MOST_MS): Doorway {
  let hasArrived = false;
  let clear: Promise<void> | undefined;
  async function wait(): Promise<void> {
    const end = performance.now() + mostMs;
    // The end of this turn; the next one shows whether another connection waits.
    await nextTurn();
    do {
      hasArrived = false;
      await nextTurn();
    } while (hasArrived && performance.now() < end);
    clear = undefined;
  }
  return {
    arrived() {
      hasArrived = true;
      clear ??= wait();
    },
    get clear() {
      return clear;
    },
  };
}
