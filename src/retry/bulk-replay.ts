import { setTimeout as sleep } from "node:timers/promises";
import type { Receiver } from "../pipeline/index.ts";
import type { DueReplay, StoredBulkReplay } from "../store/index.ts";
import { type BulkWork, batchSize, whileLeased } from "./bulk-batch.ts";
import { createEventBatches } from "./bulk-event-replay.ts";
import { createLeasedWork } from "./leased-work.ts";
import { type ReplayResult, replay } from "./replay.ts";
import { isTransient, newLease, recoverInterrupted } from "./run-failure.ts";

/** After a batch that could run nothing: others are at work on all of it, or the database is away. */
const IDLE_PAUSE_MS = 500;

/** Continues a leased bulk replay until it ends, an operator stops it, or the lease is lost. */
async function runBulkReplay(leased: StoredBulkReplay, work: BulkWork): Promise<void> {
  const { owner, receiver, stopping } = work;
  const { bulkReplays } = receiver.store;
  let bulk: StoredBulkReplay | undefined = leased;
  const nextBatch = leased.scope === "events" ? createEventBatches(leased, work) : createFailureBatches(work);
  try {
    await recoverInterrupted(receiver);
    while (bulk?.state === "running" && !stopping.aborted) {
      const startedAt = performance.now();
      const batch = await nextBatch(bulk);
      if (batch === undefined) return await finish(bulk, work);
      const { progress, ran } = batch;
      const counted = await bulkReplays.advance(bulk.id, owner, progress, newLease(receiver).until);
      if (counted?.state !== "running") return;
      await sleep(pauseMs(counted, ran, startedAt), undefined, { signal: stopping }).catch(() => {});
      // An operator may have paused or cancelled it in the meantime.
      bulk = await bulkReplays.get(counted.id);
    }
  } finally {
    await bulkReplays.release(leased.id, owner);
  }
}

/** A batch takes as long as its replays may, at the least. */
function pauseMs({ perSecond }: StoredBulkReplay, ran: number, startedAt: number): number {
  const least = ran === 0 ? IDLE_PAUSE_MS : (1_000 * ran) / perSecond;
  return Math.max(0, startedAt + least - performance.now());
}

/** @returns runs the next failures; undefined at the end of the bulk replay */
function createFailureBatches(work: BulkWork) {
  return async (bulk: StoredBulkReplay) => {
    const due = await work.receiver.store.bulkReplays.next(bulk, batchSize(bulk));
    return due.length === 0 ? undefined : whileLeased(bulk, work, runBatch(bulk, due, work));
  };
}

async function runBatch(bulk: StoredBulkReplay, due: readonly DueReplay[], work: BulkWork) {
  const ends = new Array<ReplayState>(due.length).fill("later");
  const run = async (failure: DueReplay, index: number) => {
    ends[index] = await runOne(bulk, failure, work);
  };
  await Promise.all(due.map((failure, index) => (failure.isSuspect ? undefined : run(failure, index))));
  // One suspect a batch, after the others: all of them could take longer than the lease of the bulk.
  const suspect = due.findIndex(({ isSuspect }) => isSuspect);
  if (suspect >= 0) await run(due[suspect] as DueReplay, suspect);
  const count = (end: ReplayState) => ends.filter((one) => one === end).length;
  // A leased failure becomes free or its lease expires: the next batch tries it again.
  const later = due.find((_, index) => ends[index] === "later");
  const afterId = later === undefined ? (due.at(-1)?.id ?? bulk.afterId) : later.id - 1;
  const progress = { afterId, succeeded: count("succeeded"), alreadyHandled: count("already") };
  return { progress, ran: due.length - count("later") };
}

type ReplayState = "succeeded" | "already" | "failed" | "later";

async function runOne({ id }: StoredBulkReplay, failure: DueReplay, work: BulkWork): Promise<ReplayState> {
  const { receiver } = work;
  const fields = { bulk_replay: id, source: failure.source, event_id: failure.eventId };
  try {
    const end = replayState(await replay(failure, receiver, id));
    receiver.log.debug({ ...fields, end }, "a replay of a bulk ended");
    return end;
  } catch (error) {
    receiver.log.error({ ...fields, err: error }, "a replay of a bulk could not be run; it is tried again");
    return "later";
  }
}

function replayState(result: ReplayResult): ReplayState {
  if (result === "leased") return "later";
  if (result === "absent" || result.kind === "already_processed") return "already";
  if (result.kind === "success") return "succeeded";
  return isTransient(result) ? "later" : "failed";
}

async function finish({ id }: StoredBulkReplay, { owner, receiver }: BulkWork): Promise<void> {
  const ended = await receiver.store.bulkReplays.finish(id, owner, receiver.clock.now());
  if (ended === undefined) return;
  const { scope, total, succeeded, alreadyHandled: already_handled, failed, skipped } = ended;
  const counts = { total, succeeded, already_handled, failed, skipped };
  receiver.log.info({ bulk_replay: id, scope, ...counts }, "a bulk replay is done");
}

/** Works on bulk replays, each of them in one process at a time. */
export function createBulkReplayPoller(receiver: Receiver) {
  return createLeasedWork({
    receiver,
    lease: (lease) => receiver.store.bulkReplays.lease(lease),
    work: (bulk, owner, stopping) =>
      runBulkReplay(bulk, { owner, receiver, stopping }).catch((error: unknown) =>
        receiver.log.error({ err: error, bulk_replay: bulk.id }, "a bulk replay was interrupted; it goes on soon"),
      ),
    failed: "bulk replays could not be looked up; they are looked up again",
  });
}
