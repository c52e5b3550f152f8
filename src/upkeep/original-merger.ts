import { type Clock, HOUR_MS, type Log } from "../domain/index.ts";
import { decryptOriginals, encryptOriginalsAside, type GroupBlock, type Original, type Store } from "../store/index.ts";
import { createPoller, type Encryptor } from "../system/index.ts";
import { createGiveWay, isBusy, STOPPED } from "./give-way.ts";
import { inLeasedSteps } from "./leased-steps.ts";

/** Blocks of one read, each of a group of some events. */
const BLOCKS_PER_READ = 512;
/** A merged block ends after this many bytes, or log entries: a search decrypts it whole. */
const [FULL_BYTES, WIDEST_IDS] = [262_144, 4_096];
/** Younger ones are not merged. On PostgreSQL a row may become visible this long after it had its id. */
const [SETTLED_MS, LATE_MS] = [60_000, 600_000];
/** A block that does not become full is merged after this time. */
const WAIT_MS = HOUR_MS;
/** While callbacks are at work nothing is merged until so many ids wait. */
const MAX_LAG_IDS = 65_536;

export interface OriginalMergerOptions {
  readonly store: Pick<Store, "groupBlocks">;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
  /** How many callbacks are at work in this process. */
  readonly activeCallbacks: () => number;
  /** For tests. */
  readonly blocksPerRead?: number;
}

/**
 * Merges the blocks of single groups, beside the callbacks and in one process at a time. An event commits with a small block.
 * Many of them compress well, and take one row of the indexes.
 */
export function createOriginalMerger(options: OriginalMergerOptions) {
  const { encryptor, clock, log, activeCallbacks, blocksPerRead = BLOCKS_PER_READ } = options;
  const { groupBlocks } = options.store;

  /** Merges what is due. @returns how many blocks were written */
  async function round(isStopping: () => boolean = () => false): Promise<number> {
    const waiting = await groupBlocks.ids();
    if (waiting === 0 || (waiting < MAX_LAG_IDS && (await isBusy(activeCallbacks)))) return 0;
    let merged = 0;
    const giveWay = createGiveWay(activeCallbacks, isStopping);
    await inLeasedSteps({ leases: groupBlocks, clock, isStopping }, async (now) => {
      const blocks = await groupBlocks.oldest(blocksPerRead, new Date(now.getTime() - SETTLED_MS));
      const due = dueMerges(blocks, now, blocks.length === blocksPerRead);
      // Parts that changed meanwhile are merged in the next round.
      for (const parts of due) if (await merge(parts, giveWay)) merged += 1;
      await groupBlocks.setMark(new Date(now.getTime() - LATE_MS));
      return due.length > 0;
    }).catch((error: unknown) => {
      if (error !== STOPPED) throw error;
    });
    return merged;
  }

  async function merge(parts: readonly GroupBlock[], giveWay: () => Promise<void>): Promise<boolean> {
    const events: Original[] = [];
    for (const part of parts) {
      const read = readable(part);
      // One whose key or compression is missing here stays as it is, under the indexes.
      if (read === undefined) return groupBlocks.merge([part], part.encrypted);
      events.push(...read);
      await giveWay();
    }
    const block = await encryptOriginalsAside(events, encryptor);
    await giveWay();
    return groupBlocks.merge(parts, block);
  }

  function readable({ encrypted }: GroupBlock): readonly Original[] | undefined {
    try {
      return decryptOriginals(encrypted, encryptor);
    } catch {
      return undefined;
    }
  }

  const failed = (err: unknown) => log.warn({ err }, "originals could not be merged; trying again");
  const loop = createPoller(round, failed);
  return { round, start: loop.start, stop: loop.stop, rounds: loop.rounds };
}

/** Blocks that are kept for about as long, in stretches that are full, wide or old enough. They are due if more wait, too. */
function dueMerges(blocks: readonly GroupBlock[], now: Date, moreWait: boolean): GroupBlock[][] {
  const before = (ms: number) => new Date(now.getTime() - ms).toISOString();
  const hourOf = ({ keepUntil }: GroupBlock) => Math.floor(Date.parse(keepUntil) / HOUR_MS);
  const due: GroupBlock[][] = [];
  for (const alike of Map.groupBy(blocks, hourOf).values()) {
    let [parts, bytes]: [GroupBlock[], number] = [[], 0];
    for (const block of alike) {
      const isWide = parts.length > 0 && block.lastCallbackId - (parts[0]?.firstCallbackId ?? 0) >= WIDEST_IDS;
      if (isWide || bytes >= FULL_BYTES) {
        due.push(parts);
        [parts, bytes] = [[], 0];
      }
      parts.push(block);
      bytes += block.encrypted.length;
    }
    const isOld = parts.some(({ newestAt }) => newestAt < before(WAIT_MS));
    if (bytes >= FULL_BYTES || isOld || moreWait) due.push(parts);
  }
  return due;
}
