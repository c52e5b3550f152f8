import { setTimeout as sleep } from "node:timers/promises";
import type { Receiver } from "../pipeline/index.ts";
import type { StoredBulkReplay } from "../store/index.ts";
import { newLease } from "./run-failure.ts";

/** How many replays of one bulk are at work at a time. */
const MAX_CONCURRENT_REPLAYS = 8;
/** The loop sees an operator's pause between two batches, so that a batch is a part of a second. */
const BATCHES_PER_SECOND = 4;

/** One process's work on one bulk replay, under its lease. */
export interface BulkWork {
  readonly owner: string;
  readonly receiver: Receiver;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
}

export function batchSize({ perSecond }: StoredBulkReplay): number {
  return Math.min(MAX_CONCURRENT_REPLAYS, Math.ceil(perSecond / BATCHES_PER_SECOND));
}

/** Renews the lease while a batch runs: its replays may wait longer than a lease for suspects to end. */
export async function whileLeased<T>(
  { id }: StoredBulkReplay,
  { owner, receiver }: Pick<BulkWork, "owner" | "receiver">,
  batch: Promise<T>,
) {
  const { bulkReplays } = receiver.store;
  const ended = new AbortController();
  const pause = () => sleep(receiver.settings.retry.leaseMs / 2, true, { signal: ended.signal });
  const renewing = (async () => {
    while (await pause().catch(() => false))
      await bulkReplays.renew(id, owner, newLease(receiver).until).catch(() => {});
  })();
  try {
    return await batch;
  } finally {
    ended.abort();
    await renewing;
  }
}
