import { randomUUID } from "node:crypto";
import { DAY_MS, type Log } from "../domain/index.ts";
import { ApiError } from "../sources/index.ts";
import type { ReconcileProgress } from "../store/index.ts";
import { createPoller, type Poller } from "../system/index.ts";
import {
  type ReconcileCounts,
  type ReconcileDependencies,
  type ReconcileResult,
  reconcileWindow,
} from "./reconcile-window.ts";

/** A run renews its lease; no single request with its tries and pauses takes this long. */
const LEASE_MS = 600_000;
const RENEW_MS = 60_000;
/** A platform may list an event a while after its time, and clocks differ. */
const OVERLAP_MS = 3_600_000;
/** A younger event may be on its way. */
const SETTLE_MS = 300_000;
/** The first run only checks that the key works. */
const FIRST_LOOK_MS = 1_000;
const LONGEST_REST_AFTER_FAILURE_MS = 300_000;
const REST_BETWEEN_PARTS_MS = 60_000;
/** A run reads at most so many pages; the next one continues there. */
const MAX_PAGES = 50;

export interface ScheduledSource extends ReconcileDependencies {
  /** Called with how each run ended. It must not throw. */
  readonly ended: (outcome: "completed" | "partial" | "failed") => void;
  /** How many days records are kept; null for ever. Whether an older event is a duplicate cannot be known. */
  readonly recordDays: number | null;
  /** Called once events are accepted, so that they run at once. */
  readonly wake: () => void;
  readonly log: Log;
}

/** Reconciles each source at its interval, in one process at a time. */
export function createReconcilePoller(sources: readonly ScheduledSource[]): Poller & {
  /** Begins no further request once `over` aborts. */
  readonly round: (over?: AbortSignal) => Promise<void>;
} {
  const stopping = new AbortController();
  const [first] = sources;
  const round = async (over?: AbortSignal) => {
    const signal = over === undefined ? stopping.signal : AbortSignal.any([stopping.signal, over]);
    const runs = await Promise.allSettled(sources.map((source) => runWhenDue(source, signal)));
    for (const run of runs) if (run.status === "rejected") throw run.reason;
  };
  const loop = createPoller(
    () => round(),
    (error) => first?.log.error({ err: error }, "due reconciliations could not be looked up; they are looked up again"),
  );
  return {
    start(intervalMs) {
      if (sources.length > 0) loop.start(intervalMs);
    },
    round,
    rounds: loop.rounds,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}

/** The end of the lease is when the next run is due: one row says both for all processes. */
async function runWhenDue(deps: ScheduledSource, signal: AbortSignal): Promise<void> {
  const { source, store, clock } = deps;
  const { everyMs } = source.api;
  if (everyMs === undefined || signal.aborted) return;
  const owner = randomUUID();
  const now = clock.now();
  const lease = { owner, now, until: new Date(now.getTime() + LEASE_MS) };
  if (!(await store.reconciliations.lease(source.name, lease, Math.max(LEASE_MS, everyMs)))) return;
  let restMs = Math.min(everyMs, LONGEST_REST_AFTER_FAILURE_MS);
  try {
    const { next } = await runOnce(deps, owner, signal);
    restMs = next === undefined ? everyMs : REST_BETWEEN_PARTS_MS;
    deps.ended(next === undefined ? "completed" : "partial");
  } catch (error) {
    if (signal.aborted) restMs = 0;
    else {
      deps.ended("failed");
      const message = "the reconciliation did not finish; it is retried soon";
      deps.log.error({ source: source.name, err: error }, message);
    }
  }
  // Counted from the start of this run, so that a long one does not delay the next.
  const nextRunAt = new Date(now.getTime() + restMs);
  await store.reconciliations.setLeaseEnd(source.name, owner, nextRunAt);
}

async function runOnce(deps: ScheduledSource, owner: string, signal: AbortSignal): Promise<ReconcileResult> {
  const { source, store, clock } = deps;
  const { reconciliations } = store;
  const { open: unfinished, ...progress } = await reconciliations.progress(source.name);
  const { from, to, cursor, failed } = unfinished ?? openWindow(progress, deps);
  const failedSoFar = ({ failed: more }: ReconcileCounts) => failed + more;
  const save = (more: ReconcileProgress) => reconciliations.saveProgress(source.name, { ...progress, ...more });
  let renewedAt = clock.now().getTime();
  const run = {
    window: { from: new Date(from), to: new Date(to) },
    cursor,
    maxPages: MAX_PAGES,
    signal,
    async afterEvent() {
      const time = clock.now().getTime();
      if (time - renewedAt < RENEW_MS) return;
      renewedAt = time;
      if (!(await reconciliations.setLeaseEnd(source.name, owner, new Date(time + LEASE_MS))))
        throw new Error("another process has taken over this reconciliation");
    },
    afterPage: (counts: ReconcileCounts, next: string) =>
      save({ open: { from, to, cursor: next, failed: failedSoFar(counts) } }),
  };
  let result: ReconcileResult;
  try {
    result = await reconcileWindow(run, deps);
  } catch (error) {
    // The platform may have forgotten a cursor of an earlier run: the next run begins with its whole window.
    if (cursor !== undefined && error instanceof ApiError && error.status >= 400 && error.status < 500) await save({});
    throw error;
  }
  const { counts, next } = result;
  if (counts.accepted > 0) deps.wake();
  if (next === undefined) {
    const isWhole = failedSoFar(counts) === 0;
    await save({ since: progress.since ?? from, ...(isWhole && { through: to }) });
  }
  report(deps, counts, { from, to, complete: next === undefined });
  return result;
}

/** From the last complete run's end, with an overlap, as far as the platform's and our own records go back. */
function openWindow({ since, through }: ReconcileProgress, deps: ScheduledSource) {
  const { source, clock, recordDays, log } = deps;
  const now = clock.now().getTime();
  const to = now - SETTLE_MS;
  const earliest = earliestTime(source, recordDays, now);
  const lookedAt = Date.parse(through ?? since ?? "");
  if (lookedAt < earliest)
    log.error(
      { source: source.name, looked_at_through: through, looks_from: new Date(earliest).toISOString() },
      "missing events between these times cannot be found: the platform's list, or the records here, do not reach back that far",
    );
  // Another system may have handled what came before the first run.
  const wanted = Number.isNaN(lookedAt) ? to - FIRST_LOOK_MS : Math.min(lookedAt, to) - OVERLAP_MS;
  const from = Math.max(wanted, earliest, Date.parse(since ?? "") || 0);
  return { from: isoTime(Math.min(from, to - FIRST_LOOK_MS)), to: isoTime(to), cursor: undefined, failed: 0 };
}

const isoTime = (ms: number) => new Date(ms).toISOString();

/** The earliest time that can be looked at; milliseconds since the epoch. */
export function earliestTime(
  { api, contract }: ReconcileDependencies["source"],
  recordDays: number | null,
  now: number,
): number {
  const ofRecords = recordDays === null || !contract.hasSignedTime ? Number.POSITIVE_INFINITY : recordDays;
  return now - Math.min(api.keepsDays, ofRecords) * DAY_MS;
}

function report({ source, log }: ScheduledSource, counts: ReconcileCounts, window: object): void {
  const fields = { source: source.name, ...window, ...counts };
  if (counts.failed > 0) log.error(fields, "missing events could not be accepted; they are retried");
  else if (counts.accepted > 0) log.warn(fields, "events that never arrived were found at the platform and accepted");
  else log.info(fields, "the reconciliation found no missing event");
}
