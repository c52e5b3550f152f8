import { setTimeout as sleep } from "node:timers/promises";
import type { Registry } from "../handlers/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import type { StoredBackfill } from "../store/index.ts";
import { createPoller } from "../system/index.ts";
import { workOn } from "./backfill-work.ts";
import { newLease } from "./run-failure.ts";

/** How many one process works on at a time; the others wait, or another process takes them. */
const MAX_CONCURRENT_BACKFILLS = 4;
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
  const stopping = new AbortController();
  const atWork = new Set<Promise<void>>();
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

  async function round(over?: AbortSignal): Promise<void> {
    const signal = over === undefined ? stopping.signal : AbortSignal.any([stopping.signal, over]);
    while (!signal.aborted && atWork.size < MAX_CONCURRENT_BACKFILLS) {
      const lease = newLease(receiver);
      const leased = await store.backfills.lease(lease);
      if (leased === undefined) return;
      const working = work(leased, lease.owner, signal).finally(() => atWork.delete(working));
      atWork.add(working);
    }
  }

  const loop = createPoller(
    () => round(),
    (error) => log.error({ err: error }, "backfills could not be looked up; they are looked up again"),
  );
  return {
    start: loop.start,
    /** Works on those that are running; resolves when they have ended, or after the step under way once `over` aborts. */
    async round(over: AbortSignal): Promise<void> {
      await round(over);
      await Promise.all(atWork);
    },
    async stop() {
      stopping.abort();
      await loop.stop();
      await Promise.all(atWork);
    },
  };
}
