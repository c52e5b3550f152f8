import type { SourceHistoryView } from "../admin/index.ts";
import {
  eventResponses,
  highestLatency,
  isoTimeOf,
  latencyQuantile,
  OVERVIEW_RANGES,
  type OverviewRange,
  periodStart,
} from "../domain/index.ts";
import type { RollupSlot, SlowCallback, Store } from "../store/index.ts";
import type { SourceFacts } from "./source-health.ts";

const MOST_SLOW = 5;
/** Each period is one search of the log: so many that hold callbacks are read, and so many are tried. */
const MOST_READ = 8;
const MOST_TRIED = 12;
const BUDGET_MS = 25;
/** Earlier versions counted a response when it was stored. Its callback may have come before its period. */
const EARLIER_MS = 60_000;

/** The latency of a source over time, and its slowest callbacks. It reads bounded counts, and a bounded part of the log. */
export async function sourceHistory(
  store: Pick<Store, "rollups" | "sourceActivity">,
  { source, deadlineSeconds }: SourceFacts,
  span: OverviewRange,
  now: Date,
): Promise<SourceHistoryView> {
  const { stepSeconds, steps } = OVERVIEW_RANGES[span];
  const first = periodStart(now, stepSeconds) - (steps - 1) * stepSeconds;
  const counts = await store.rollups.ofSource(span, first, source);
  const rows = eventResponses(counts);
  const bySlot = Map.groupBy(rows, ({ slot }) => slot);
  const slow = await slowestOf(store, source, slowestSlots(bySlot), stepSeconds);
  return {
    source,
    span,
    from: isoTimeOf(first),
    to: now.toISOString(),
    step_seconds: stepSeconds,
    deadline_ms: deadlineSeconds === undefined ? null : Math.round(deadlineSeconds * 1_000),
    buckets: Array.from({ length: steps }, (_, index) => {
      const slot = first + index * stepSeconds;
      return { at: isoTimeOf(slot), ...latencyOf(bySlot.get(slot) ?? []) };
    }),
    totals: latencyOf(rows),
    slowest: slow.callbacks.map(presentSlow),
    is_complete: slow.isComplete,
  };
}

function latencyOf(rows: readonly RollupSlot[]) {
  return {
    callbacks: rows.reduce((sum, { count }) => sum + count, 0),
    p50_ms: latencyQuantile(rows, 0.5),
    p95_ms: latencyQuantile(rows, 0.95),
    p99_ms: latencyQuantile(rows, 0.99),
  };
}

/** The periods by their longest latencies; the newest first among equals. */
function slowestSlots(bySlot: ReadonlyMap<number, readonly RollupSlot[]>) {
  const slots = [...bySlot].map(([slot, rows]) => {
    return { slot, highestMs: Math.max(...rows.map(highestLatency)) };
  });
  return slots.toSorted((one, other) => other.highestMs - one.highestMs || other.slot - one.slot);
}

/**
 * Periods are read until the next one cannot hold a slower callback than those found. In the log a callback took no longer
 * than in its count. The log may not hold the oldest ones any more: those cost little, and further ones are tried.
 */
async function slowestOf(
  { sourceActivity }: Pick<Store, "sourceActivity">,
  source: string,
  slots: ReturnType<typeof slowestSlots>,
  stepSeconds: number,
) {
  const found = new Map<number, SlowCallback>();
  const slowest = () => [...found.values()].sort((one, other) => other.processingMs - one.processingMs);
  let isComplete = true;
  let read = 0;
  for (const [tried, { slot, highestMs }] of slots.entries()) {
    const least = slowest()[MOST_SLOW - 1]?.processingMs;
    if (least !== undefined && least >= highestMs) break;
    if (read === MOST_READ || tried === MOST_TRIED) {
      isComplete = false;
      break;
    }
    const from = new Date(slot * 1_000 - EARLIER_MS).toISOString();
    const period = { source, from, to: isoTimeOf(slot + stepSeconds) };
    const searched = await sourceActivity.slowest(period, { limit: MOST_SLOW, budgetMs: BUDGET_MS });
    // Neighbouring periods overlap.
    for (const callback of searched.callbacks) found.set(callback.id, callback);
    isComplete &&= searched.isComplete;
    if (searched.callbacks.length > 0) read += 1;
  }
  return { callbacks: slowest().slice(0, MOST_SLOW), isComplete };
}

function presentSlow({ id, receivedAt, eventType, eventId, ...callback }: SlowCallback) {
  const { outcome, responseStatus: response_status, processingMs: processing_ms } = callback;
  return {
    id,
    timestamp: receivedAt,
    event_type: eventId === null ? null : eventType,
    event_id: eventId,
    outcome,
    response_status,
    processing_ms,
  };
}
