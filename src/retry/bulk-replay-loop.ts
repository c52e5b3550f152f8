import { randomUUID } from "node:crypto";
import { createLoop, type Loop } from "../loop/index.ts";
import type { Receiver } from "../receive/index.ts";
import { workOn } from "./bulk-replay.ts";
import { leaseTimes, type RetryTiming } from "./lease-times.ts";

/** How many bulk replays one process works on at a time; the others wait, or another process takes them. */
const AT_ONCE = 4;

/**
 * Works on bulk replays, each of them in one process at a time. How far one has come is in the database, so that a restart
 * goes on where it was; a process that dies loses its lease, and another goes on.
 */
export function createBulkReplayLoop(receiver: Receiver, timing: RetryTiming): Loop {
  const { clock, log, store } = receiver;
  const stopping = new AbortController();
  const atWork = new Set<Promise<void>>();

  async function round(): Promise<void> {
    while (!stopping.signal.aborted && atWork.size < AT_ONCE) {
      const owner = randomUUID();
      const bulk = await store.bulkReplays.lease({ owner, ...leaseTimes(clock, timing) });
      if (bulk === undefined) return;
      const working = workOn(bulk, { owner, timing, receiver, stopping: stopping.signal })
        .catch((error: unknown) =>
          log.error({ err: error, bulk_replay: bulk.id }, "a bulk replay was interrupted; it goes on soon"),
        )
        .finally(() => atWork.delete(working));
      atWork.add(working);
    }
  }

  const loop = createLoop(round, (error) =>
    log.error({ err: error }, "bulk replays could not be looked up; they are looked up again"),
  );
  return {
    start: loop.start,
    async stop() {
      stopping.abort();
      await loop.stop();
      await Promise.all(atWork);
    },
  };
}
