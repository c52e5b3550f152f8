import { setTimeout as sleep } from "node:timers/promises";
import type { Registry } from "../handlers/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import type { StoredBackfill } from "../store/index.ts";
import { workOn } from "./backfill-work.ts";
import { createLeasedWork } from "./leased-work.ts";

/** Accepted events wait in one queue, those of callbacks too: a backfill adds none while so many wait. */
const MOST_WAITING = 256;
const BUSY_PAUSE_MS = 25;
/** Callbacks come before a backfill, and do not stop it. */
const MOST_BUSY_PAUSES = 10;
const FULL_PAUSE_MS = 250;

/**
 * Works on the backfills that are due, each of them in one process at a time. The database holds their progress: another
 * process continues one whose process has ended.
 * @param registry of the user's handlers only
 */
export function createBackfillPoller(receiver: Receiver, registry: Registry) {
  const { log, store, settings, concurrency, events } = receiver;
  const parts = { ...receiver, registry };

  const giveWay = (signal: AbortSignal) => async (): Promise<void> => {
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {});
    for (let pauses = 0; concurrency.active > 0 && pauses < MOST_BUSY_PAUSES && !signal.aborted; pauses += 1)
      await pause(BUSY_PAUSE_MS);
    // The lease is renewed with each step: none may wait for longer than it lasts.
    const until = performance.now() + settings.retry.leaseMs / 4;
    while (
      !signal.aborted &&
      performance.now() < until &&
      (await store.backfills.waiting(MOST_WAITING)) === MOST_WAITING
    )
      await pause(FULL_PAUSE_MS);
  };

  async function work(leased: StoredBackfill, owner: string, signal: AbortSignal): Promise<void> {
    const { id: backfill, handler } = leased;
    const onAccepted = () => void events.emit("accepted");
    try {
      const ended = await workOn(leased, { owner, stopping: signal, giveWay: giveWay(signal), onAccepted }, parts);
      if (ended?.state === "done") log.info({ backfill, handler, ...ended.counts }, "a backfill is done");
    } catch (err) {
      log.error({ err, backfill }, "a backfill was interrupted; it goes on soon");
    }
  }

  return createLeasedWork({
    receiver,
    lease: (lease) => store.backfills.lease(lease),
    work,
    failed: "backfills could not be looked up; they are looked up again",
  });
}
