import { createSourceCounts } from "../domain/index.ts";
import { createPoller, type Poller } from "../poller/index.ts";
import type { AlertKind, Arrival } from "../store/index.ts";
import { type AlertDependencies, evaluateAlerts } from "./evaluate-alerts.ts";
import { lastFullQuarter } from "./policy.ts";

/** The authentic callbacks that a process counts by event type until it stores them. */
export interface ArrivalCounts {
  /** Counts one callback; without an event id it was not authentic. */
  note(
    source: string,
    callback: { readonly eventId?: string | undefined; readonly eventType?: string | undefined },
  ): void;
  /** Returns what was counted and starts again at zero. */
  take(): Arrival[];
  /** Adds counts back that could not be stored. */
  putBack(arrivals: readonly Arrival[]): void;
}

/** @param types the only event types that are counted, which bounds the number of rows */
export function createArrivalCounts(types: readonly string[]): ArrivalCounts {
  const known = new Set(types);
  const { add, take } = createSourceCounts<string>();
  return {
    note(source, { eventId, eventType }) {
      if (eventId !== undefined && eventType !== undefined && known.has(eventType)) add(source, eventType);
    },
    take: () => take().map(({ source, subject, count }) => ({ source, eventType: subject, count })),
    putBack(arrivals) {
      for (const { source, eventType, count } of arrivals) add(source, eventType, count);
    },
  };
}

/** Signatures first: an open alert of theirs suppresses the silence of the same source. */
const KINDS: readonly AlertKind[] = ["failures", "signatures", "silence"];
/** A round that runs a little early must not wait for the next one. */
const CLAIM_TOLERANCE = 0.9;
const DAY_MS = 86_400_000;
/** Four times a gap of a week, and the week before it. */
const KEPT_DAYS = 36;

/**
 * Stores what this process has counted, and evaluates the alerts that no other process has evaluated in this round. A change
 * and its notification are one transaction, so that a process that dies leaves both or none.
 */
export function createAlertPoller(deps: AlertDependencies & { readonly arrivals: ArrivalCounts }): Poller {
  const { store, arrivals, kinds, clock, log } = deps;
  let everyMs = 0;
  let deletedOn = 0;
  let evaluatedQuarter: number | undefined;

  async function round(): Promise<void> {
    const now = clock.now();
    if (kinds.has("silence")) await storeArrivals(now);
    for (const kind of KINDS.filter((one) => kinds.has(one))) {
      // Signatures are counted by quarter-hours: within one, nothing changes.
      if (kind === "signatures" && evaluatedQuarter === lastFullQuarter(now)) continue;
      const observedSince = await store.claimEvaluation(kind, now, everyMs * CLAIM_TOLERANCE);
      if (observedSince === undefined) continue;
      await evaluateAlerts(deps, kind, now, observedSince);
      if (kind === "signatures") evaluatedQuarter = lastFullQuarter(now);
    }
  }

  async function storeArrivals(now: Date): Promise<void> {
    const taken = arrivals.take();
    try {
      await store.addArrivals(now, taken);
    } catch (error) {
      arrivals.putBack(taken);
      throw error;
    }
    const today = Math.floor(now.getTime() / DAY_MS);
    if (deletedOn === today) return;
    await store.deleteArrivalsBefore(today - KEPT_DAYS);
    deletedOn = today;
  }

  const poller = createPoller(round, (error) =>
    log.error({ err: error }, "evaluating alerts failed; the next round repeats it"),
  );
  return {
    start(intervalMs) {
      everyMs = intervalMs;
      poller.start(intervalMs);
    },
    async stop() {
      await poller.stop();
      if (!kinds.has("silence")) return;
      await storeArrivals(clock.now()).catch((error: unknown) =>
        log.warn({ err: error }, "the alert on silence misses the callbacks of the last minute"),
      );
    },
  };
}
