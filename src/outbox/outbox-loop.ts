import { randomUUID } from "node:crypto";
import { createLoop, type Loop } from "../loop/index.ts";
import type { DueDelivery, StoredNotification } from "../store/index.ts";
import { createAttempt } from "./attempt.ts";
import type { Channel } from "./channel.ts";
import type { OutboxDeps } from "./outbox-deps.ts";

const FRESH_AT_ONCE = 250;
const STOP_PATIENCE_MS = 4_000;

export interface OutboxLoop extends Loop {
  /** One round on each channel: takes on all that is due, resolves when its attempts have ended. */
  round(): Promise<void>;
}

/**
 * Delivers what handlers have committed: at least once, with one id at every attempt. The leases let any number of
 * processes share the work, and a process that dies loses none of it.
 */
export function createOutboxLoop(deps: OutboxDeps): OutboxLoop {
  const { channels, log } = deps;
  const stopping = new AbortController();
  const begin = beginning(deps);
  const workers = channels.map((channel) => createWorker(channel, begin, stopping.signal, deps));
  // A loop for each, so that a channel whose receiver hangs does not keep the others waiting.
  const loops = workers.map(({ work }, index) =>
    createLoop(work, (error) =>
      log.error({ err: error, channel: channels[index]?.name }, "due notifications could not be looked up"),
    ),
  );
  return {
    start(intervalMs) {
      for (const loop of loops) loop.start(intervalMs);
    },
    async round() {
      await Promise.all(workers.map(({ work }) => work(() => false)));
      await Promise.all(workers.map(({ ended }) => ended()));
    },
    async stop() {
      // What is under way may end; what hangs is given up, and is tried again after the next start.
      const timer = setTimeout(() => stopping.abort(new Error("the process stops")), STOP_PATIENCE_MS);
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all(workers.map(({ ended }) => ended()));
      clearTimeout(timer);
      await Promise.all(channels.map((channel) => channel.close?.()));
    },
  };
}

type Begin = (isStopping: () => boolean) => Promise<void>;

/** What happens to fresh notifications: they become deliveries, or are passed on at once. */
function beginning({ outbox, channels, clock, attempted }: OutboxDeps): Begin {
  const destinations = channels.flatMap((channel) => channel.destinations);
  const [only] = channels;
  const take = channels.length === 1 && destinations.length === 1 ? only?.take : undefined;
  const step =
    only === undefined || take === undefined
      ? () => outbox.spread(destinations, clock.now(), FRESH_AT_ONCE)
      : () => outbox.passOn(destinations[0] ?? "", clock.now(), FRESH_AT_ONCE, takeAll);
  return async (isStopping) => {
    while ((await step()) === FRESH_AT_ONCE && !isStopping());
  };

  function takeAll(notifications: readonly StoredNotification[]): void {
    for (const notification of notifications) {
      take?.(notification);
      attempted(only?.name ?? "", "delivered");
    }
  }
}

/** Keeps a few attempts on one channel going: one that takes long holds up itself and none of the others. */
function createWorker(
  channel: Channel,
  begin: Begin,
  stopping: AbortSignal,
  deps: OutboxDeps,
): { work(isStopping: () => boolean): Promise<void>; ended(): Promise<unknown> } {
  const attempt = createAttempt(channel, stopping, deps);
  const underWay = new Set<Promise<void>>();
  /** One of what processes left that have ended at a time: the one that ends this one too takes none of the others with it. */
  let isLeftUnderWay = false;

  /** Takes on what is due and there is room for; resolves with whether there may be more of it. */
  async function takeOn(isStopping: () => boolean): Promise<boolean> {
    await begin(isStopping);
    if (underWay.size === channel.atOnce) return true;
    const owner = randomUUID();
    const left = isLeftUnderWay ? undefined : await attempt.leaseLeft(owner);
    if (left !== undefined) {
      isLeftUnderWay = true;
      void start(left, owner, attempt.limit()).then(() => {
        isLeftUnderWay = false;
      });
    }
    const room = channel.atOnce - underWay.size;
    const due = room === 0 ? [] : await attempt.lease(owner, room);
    if (due.length > 0) {
      const limit = attempt.limit();
      for (const delivery of due) void start(delivery, owner, limit);
    }
    return left !== undefined || due.length === room;
  }

  function start(delivery: DueDelivery, owner: string, limit: AbortSignal): Promise<void> {
    const running = attempt.make(delivery, owner, limit).finally(() => underWay.delete(running));
    underWay.add(running);
    return running;
  }

  return {
    async work(isStopping) {
      await attempt.mendTimes();
      while (!isStopping() && (await takeOn(isStopping))) if (underWay.size > 0) await Promise.race(underWay);
    },
    ended: () => Promise.all(underWay),
  };
}
