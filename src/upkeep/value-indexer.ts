import { type Clock, HOUR_MS, type Log } from "../domain/index.ts";
import { type IdRange, type Store, uncoveredRanges } from "../store/index.ts";
import { createPoller } from "../system/index.ts";
import { buildSegment } from "./build-segment.ts";
import { createGiveWay, isBusy, STOPPED } from "./give-way.ts";
import { inLeasedSteps } from "./leased-steps.ts";

/** Ids of one segment. Fewer make a search read more blocks. With more, more of the newest rows have to be read one by one. */
const SEGMENT_IDS = 4_096;
/** The newest rows are read one by one until they fill a segment, or this many are an hour old. */
const [FEWEST_IDS, WAIT_MS] = [1_024, HOUR_MS];
/** While callbacks are at work, nothing is built until so many rows wait. */
const MAX_LAG_IDS = 64 * SEGMENT_IDS;

export interface ValueIndexerOptions {
  readonly store: Pick<Store, "valueIndex">;
  readonly clock: Clock;
  readonly log: Log;
  /** How many callbacks are at work in this process. */
  readonly activeCallbacks: () => number;
  /** Of one segment; for tests. */
  readonly segmentIds?: number;
}

export type ValueIndexer = ReturnType<typeof createValueIndexer>;

/**
 * Builds the index of values beside the callbacks, in one process at a time. It works in slices of some milliseconds with pauses
 * between. Callbacks have the processor unless the index is far behind.
 */
export function createValueIndexer(options: ValueIndexerOptions) {
  const { clock, log, activeCallbacks, segmentIds = SEGMENT_IDS } = options;
  const { valueIndex } = options.store;

  /** The next stretch to be built: the newest one that is whole. */
  async function nextRange(): Promise<{ readonly range: IdRange; readonly lag: number } | undefined> {
    const settled = await valueIndex.settledBelow(clock.now());
    const { from } = await valueIndex.logRange();
    const segments = await valueIndex.segments();
    const newest = segments[0]?.toId ?? 0;
    const ranges = uncoveredRanges(segments, { from, below: settled });
    const lag = ranges.reduce((ids, range) => ids + range.below - range.from, 0);
    for (const range of ranges) {
      const wholes = Math.floor((range.below - range.from) / segmentIds);
      if (wholes > 0) {
        const start = range.from + (wholes - 1) * segmentIds;
        return { range: { from: start, below: start + segmentIds }, lag };
      }
      if (range.from < newest || (await isLongEnough(range))) return { range, lag };
    }
    return undefined;
  }

  async function isLongEnough(range: IdRange): Promise<boolean> {
    if (range.below - range.from < FEWEST_IDS) return false;
    const [oldest] = await valueIndex.rowsOf(range, 1);
    return oldest !== undefined && Date.parse(oldest.receivedAt) < clock.now().getTime() - WAIT_MS;
  }

  /** Builds what is due, and deletes segments whose rows are gone. @returns how many segments were built */
  async function round(isStopping: () => boolean = () => false): Promise<number> {
    let built = 0;
    const next = await nextRange();
    if (next === undefined) return built;
    if (next.lag < MAX_LAG_IDS && (await isBusy(activeCallbacks))) return built;
    await inLeasedSteps({ leases: valueIndex, clock, isStopping }, async () => {
      const due = await nextRange();
      // Rows that were erased meanwhile are read again in the next round.
      if (due === undefined || !(await build(due.range, isStopping))) return false;
      built += 1;
      return true;
    });
    return built;
  }

  async function build(range: IdRange, isStopping: () => boolean): Promise<boolean> {
    const erasures = await valueIndex.erasures();
    const segment = await buildSegment(valueIndex, range, createGiveWay(activeCallbacks, isStopping)).catch(
      (error: unknown) => {
        if (error === STOPPED) return undefined;
        throw error;
      },
    );
    if (segment !== undefined) return valueIndex.add(segment, erasures);
    // Its rows are gone. An empty segment keeps it from being looked at again and again.
    const time = clock.now().toISOString();
    const empty = { fromId: range.from, toId: range.below - 1, fromTime: time, toTime: time, rowCount: 0 };
    return !isStopping() && valueIndex.add({ ...empty, common: [], blocks: [] }, erasures);
  }

  const failed = (err: unknown) => log.warn({ err }, "the index of values could not be continued; trying again");
  const loop = createPoller(round, failed);
  return { round, start: loop.start, stop: loop.stop, rounds: loop.rounds };
}
