import { setImmediate as nextTurn } from "node:timers/promises";
import { type BackfillCounts, type NewBackfill, NO_BACKFILL_COUNTS } from "../store/index.ts";
import { withResult } from "./backfill-counts.ts";
import { type BackfillResult, type BackfillTarget, firstOfEach, sortOut } from "./backfill-events.ts";
import { historyOf } from "./backfill-history.ts";
import { type BackfillParts, historyRange, inChunks } from "./backfill-work.ts";

/** Counts of events, once for each of their handlers. */
export interface BackfillPreview extends BackfillCounts {
  /** Whether the whole history was counted, within the time that was given. */
  readonly isComplete: boolean;
  /** The first events, run in transactions that were rolled back. None of a handler with `prepare`. */
  readonly sample: { readonly run: number; readonly failed: readonly SampleFailure[] };
}

type SampleFailure = Readonly<Record<"type" | "id" | "reason", string>>;

interface PreviewOptions {
  /** Runs an event in a transaction that is rolled back, and returns why it would fail. None is run when left out. */
  readonly runSample?: ((target: BackfillTarget) => Promise<string | undefined>) | undefined;
  readonly budgetMs: number;
}

const MOST_SAMPLED = 20;

/** Counts the events that a backfill would accept, and runs a sample. It changes nothing. */
export async function previewBackfill(
  asked: Omit<NewBackfill, "perSecond" | "createdBy">,
  { runSample, budgetMs }: PreviewOptions,
  parts: BackfillParts,
): Promise<BackfillPreview> {
  const endsAt = performance.now() + budgetMs;
  const now = parts.clock.now();
  const start = { phase: "stored" } as const;
  const history = historyOf(historyRange(asked, start, now, parts), start, { ...parts, now });
  const sample = { run: 0, failed: [] as SampleFailure[] };
  let counts = NO_BACKFILL_COUNTS;
  const sampleOf = async (target: BackfillTarget) => {
    const { key, version, eventType: type } = target;
    const hasPrepare = parts.registry.find(key.source, version, type)?.prepare !== undefined;
    if (runSample === undefined || hasPrepare || sample.run === MOST_SAMPLED) return;
    sample.run += 1;
    const reason = await runSample(target);
    if (reason !== undefined) sample.failed.push({ type, id: key.eventId, reason });
  };
  const isNew = firstOfEach();
  for await (const items of inChunks(history)) {
    for (const { results } of await sortOut(items, asked, parts))
      for (const result of results) {
        const ended: BackfillResult = isNew(result) ? result : { kind: "alreadyTaken" };
        counts = withResult(counts, ended);
        if (ended.kind === "accepted") await sampleOf(ended.target);
      }
    await nextTurn();
    if (performance.now() > endsAt) return { ...counts, isComplete: false, sample };
  }
  return { ...counts, isComplete: true, sample };
}
