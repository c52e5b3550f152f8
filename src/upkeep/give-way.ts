import { setTimeout as sleep } from "node:timers/promises";

/** Lets callbacks run; called every few milliseconds of work. */
export type GiveWay = () => Promise<void>;

/** A pause follows each slice of work, of so many times its length: while callbacks are at work, and else. */
const SLICE_MS = 4;
const [PAUSE_BUSY, PAUSE_IDLE] = [19, 1];
/** How often, and in how many milliseconds, callbacks are looked for before a round. */
const [LOOKS, LOOK_EVERY_MS] = [5, 10];

export const STOPPED = new Error("stopped");

/**
 * @param activeCallbacks how many callbacks are at work in this process
 * @throws STOPPED once the process stops: what was not written is done again
 */
export function createGiveWay(activeCallbacks: () => number, isStopping: () => boolean): GiveWay {
  let startedAt = performance.now();
  return async () => {
    const took = performance.now() - startedAt;
    if (took < SLICE_MS) return;
    if (isStopping()) throw STOPPED;
    const pause = took * (activeCallbacks() > 0 ? PAUSE_BUSY : PAUSE_IDLE);
    await sleep(pause);
    startedAt = performance.now();
  };
}

/** Whether callbacks are at work for most of a short while. */
export async function isBusy(activeCallbacks: () => number): Promise<boolean> {
  let seen = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    if (activeCallbacks() > 0) seen += 1;
    await sleep(LOOK_EVERY_MS);
  }
  return seen * 2 > LOOKS;
}
