import { createPoller, type Poller } from "../poller/index.ts";
import { SERVING } from "./arrival-counts.ts";
import type { AlertDependencies } from "./evaluate-alerts.ts";
import { evaluateAlerts } from "./evaluate-alerts.ts";
import { DAY, slotOf, WEEK, WEEKS } from "./policy.ts";

/** What is older is looked back upon by nobody. */
const KEPT_SLOTS = WEEKS * WEEK + WEEK + 2 * DAY;
/** A process whose round came a little early shall not lose its turn for a whole round. */
const TURN_TOLERANCE = 0.9;

/**
 * Writes down what this process has counted, and judges when it is its turn: in each round of any number of processes one does.
 * A process that dies in its turn leaves the next one to the others, and nothing half told: a change and its message are one
 * transaction.
 */
export function createAlertPoller(deps: AlertDependencies): Poller {
  const { store, arrivals, kinds, clock, log } = deps;
  const isCounting = kinds.has("signatures") || kinds.has("silence");
  let everyMs = 0;
  let forgotten = 0;

  async function round(): Promise<void> {
    const now = clock.now();
    if (isCounting) await writeDown(true);
    if (!(await store.claimEvaluation(now, everyMs * TURN_TOLERANCE))) return;
    await evaluateAlerts(deps, now);
    const slot = slotOf(now);
    if (!isCounting || forgotten === slot) return;
    await store.deleteArrivalsBefore(slot - KEPT_SLOTS);
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

  const loop = createPoller(round, (error) =>
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
