import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ConnectionLimit } from "./connection-limit.ts";

export type AcceptGate = ReturnType<typeof createAcceptGate>;

const MAX_MS = 100;

/**
 * Node accepts one connection in each turn of the event loop, and with hundreds of requests a turn takes long. The last of as
 * many new connections would wait for seconds. So while connections arrive, a turn goes on with its work, and begins nothing.
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

export type UnverifiedThrottle = ReturnType<typeof createUnverifiedThrottle>;

/** From its first byte a refusal takes 50 to 150 µs, so that these take a millisecond or two. */
const RESPONSES_A_TURN = 16;

/**
 * Bounds how many requests that are not authentic get a response in one turn of the event loop.
 * A callback takes several turns. A turn takes as long as everything that is ready in it, such as a thousand refusals. A
 * connection sends its next request after its response, so that bounding the responses bounds all of the work. At most one
 * request of each connection waits, and its connection gives way to new ones as idle ones do. While connections arrive, all wait.
 */
export function createUnverifiedThrottle(
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
    /** Resolves in the turn that may respond to this one; undefined when it may get its response at once. */
    wait(socket: Socket): Promise<void> | undefined {
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
