import type { Receiver } from "../pipeline/index.ts";
import type { Lease } from "../store/index.ts";
import { createPoller } from "../system/index.ts";
import { newLease } from "./run-failure.ts";

/** How many of a kind one process works on at a time; the others wait, or another process takes them. */
const MAX_AT_ONCE = 4;

/** Pieces of long work, such as bulk replays, each of them in one process at a time. */
export interface LeasedWork<Piece> {
  readonly receiver: Receiver;
  /** @returns the next piece that is due and free; undefined where there is none */
  readonly lease: (lease: Lease) => Promise<Piece | undefined>;
  /** Works on it until it ends or `stopping` aborts; never rejects. */
  readonly work: (piece: Piece, owner: string, stopping: AbortSignal) => Promise<void>;
  /** The message for the log where the pieces could not be looked up. */
  readonly failed: string;
}

/** The database holds the progress: when a process ends, its lease expires, and another process continues. */
export function createLeasedWork<Piece>({ receiver, lease, work, failed }: LeasedWork<Piece>) {
  const stopping = new AbortController();
  const atWork = new Set<Promise<void>>();

  async function round(over?: AbortSignal): Promise<void> {
    const signal = over === undefined ? stopping.signal : AbortSignal.any([stopping.signal, over]);
    while (!signal.aborted && atWork.size < MAX_AT_ONCE) {
      const taken = newLease(receiver);
      const piece = await lease(taken);
      if (piece === undefined) return;
      const working = work(piece, taken.owner, signal).finally(() => atWork.delete(working));
      atWork.add(working);
    }
  }

  const loop = createPoller(
    () => round(),
    (error) => receiver.log.error({ err: error }, failed),
  );
  return {
    start: loop.start,
    rounds: loop.rounds,
    /** Works on what is due; resolves when it has ended, or after the step under way once `over` aborts. */
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
