import type { BulkReplayFilter } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { presentDryRun } from "./present-replay.ts";
import type { BulkReplayTrialView } from "./schemas.ts";

/** No further event of a sample is run after this time. */
const BUDGET_MS = 10_000;
const MOST_SAMPLED = 20;

type First = NonNullable<BulkReplayTrialView["first"]>;
type Sample = BulkReplayTrialView["sample"];

/** How many events there are, and what running the first ones again would do. Each is rolled back. */
export async function tryBulkReplay(filter: BulkReplayFilter, deps: AdminDependencies): Promise<BulkReplayTrialView> {
  const { store, clock } = deps;
  const endsAt = performance.now() + BUDGET_MS;
  const { total, ...range } = await store.handledEvents.count(filter);
  // No bulk replay has this id: nothing was run or noted for it.
  const now = clock.now();
  const bulk = { id: 0, filter, ...range, startedAt: now.toISOString() };
  const sample: { run: number; skipped: number; failed: Sample["failed"] } = { run: 0, skipped: 0, failed: [] };
  let first: First | null = null;
  for (const { source, eventId: event_id } of await store.handledEvents.next(bulk, MOST_SAMPLED, now)) {
    if (first !== null && performance.now() > endsAt) break;
    const result = await deps.dryRunHandled({ source, eventId: event_id });
    if (result === "absent") continue;
    if (result.kind === "skipped") {
      sample.skipped += 1;
      first ??= { source, event_id, replay: null, skipped: result.message };
      continue;
    }
    const replay = presentDryRun(result.outcome, result.dryRun, deps);
    sample.run += 1;
    if (replay.outcome !== "success") {
      const reason = replay.error?.split("\n", 1)[0] ?? replay.outcome;
      sample.failed.push({ source, event_id, reason });
    }
    first ??= { source, event_id, replay, skipped: null };
  }
  return { total, first, sample };
}
