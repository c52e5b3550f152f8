import { createLoop, type Loop } from "../loop/index.ts";
import type { AlertDeps } from "./alert-deps.ts";
import { SERVING } from "./arrivals.ts";
import { judgeAll } from "./judge-all.ts";
import { DAY, slotOf, WEEK, WEEKS } from "./policy.ts";

/** What is older is looked back upon by nobody. */
const KEPT = WEEKS * WEEK + WEEK + 2 * DAY;
/** A process whose round came a little early shall not lose its turn for a whole round. */
const NEARLY = 0.9;

/**
 * Writes down what this process has counted, and judges when it is its turn: in each round of any number of processes one does.
 * A process that dies in its turn leaves the next one to the others, and nothing half told: a change and its message are one
 * transaction.
 */
export function createAlertLoop(deps: AlertDeps): Loop {
  const { store, arrivals, kinds, clock, log } = deps;
  const isCounting = kinds.has("signatures") || kinds.has("silence");
  let everyMs = 0;
  let forgotten = 0;

  async function round(): Promise<void> {
    const now = clock.now();
    if (isCounting) await writeDown(true);
    if (!(await store.takeTurn(now, everyMs * NEARLY))) return;
    await judgeAll(deps, now);
    const slot = slotOf(now);
    if (!isCounting || forgotten === slot) return;
    await store.forget(slot - KEPT);
    forgotten = slot;
  }

  async function writeDown(isServing: boolean): Promise<void> {
    const taken = arrivals.take();
    const serving = isServing ? [{ ...SERVING, count: 1 }] : [];
    try {
      await store.addArrivals(slotOf(clock.now()), [...taken, ...serving]);
    } catch (error) {
      arrivals.putBack(taken);
      throw error;
    }
  }

  const loop = createLoop(round, (error) =>
    log.error({ err: error }, "alerts could not be judged; they are judged again in the next round"),
  );
  return {
    start(intervalMs) {
      everyMs = intervalMs;
      loop.start(intervalMs);
    },
    async stop() {
      await loop.stop();
      if (!isCounting) return;
      await writeDown(false).catch((error: unknown) =>
        log.warn({ err: error }, "the callbacks of the last minute are missing in the history of alerts"),
      );
    },
  };
}
