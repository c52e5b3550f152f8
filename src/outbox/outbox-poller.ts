import { randomUUID } from "node:crypto";
import { createPoller, type Poller } from "../poller/index.ts";
import type { DueDelivery, StoredNotification } from "../store/index.ts";
import type { Channel } from "./channel.ts";
import type { OutboxDependencies } from "./delivery-attempts.ts";
import { createDeliveryAttempts } from "./delivery-attempts.ts";

const FAN_OUT_BATCH = 250;
const STOP_TIMEOUT_MS = 4_000;

export interface OutboxPoller extends Poller {
  /** One round on each channel: takes on all that is due, resolves when its attempts have ended. */
  round(): Promise<void>;
}

/**
 * Delivers what handlers have committed: at least once, with one id at every attempt. The leases let any number of
 * processes share the work, and a process that dies loses none of it.
 */
export function createOutboxPoller(deps: OutboxDependencies): OutboxPoller {
  const { channels, log } = deps;
  const stopping = new AbortController();
  const fanOut = createFanOut(deps);
  const workers = channels.map((channel) => createWorker(channel, fanOut, stopping.signal, deps));
  // A loop for each, so that a channel whose receiver hangs does not keep the others waiting.
  const loops = workers.map(({ work }, index) =>
    createPoller(work, (error) =>
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
      const timer = setTimeout(() => stopping.abort(new Error("the process stops")), STOP_TIMEOUT_MS);
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all(workers.map(({ ended }) => ended()));
      clearTimeout(timer);
      await Promise.all(channels.map((channel) => channel.close?.()));
    },
  };
}

type FanOut = (isStopping: () => boolean) => Promise<void>;

/** What happens to fresh notifications: they become deliveries, or are passed on at once. */
function createFanOut({ outbox, channels, clock, attempted }: OutboxDependencies): FanOut {
  const destinations = channels.flatMap((channel) => channel.destinations);
  const [only] = channels;
  const take = channels.length === 1 && destinations.length === 1 ? only?.deliverNow : undefined;
  const step =
    only === undefined || take === undefined
      ? () => outbox.fanOut(destinations, clock.now(), FAN_OUT_BATCH)
      : () => outbox.deliverDirectly(destinations[0] ?? "", clock.now(), FAN_OUT_BATCH, takeAll);
  return async (isStopping) => {
    while ((await step()) === FAN_OUT_BATCH && !isStopping());
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
  fanOut: FanOut,
  stopping: AbortSignal,
  deps: OutboxDependencies,
): { work(isStopping: () => boolean): Promise<void>; ended(): Promise<unknown> } {
  const attempt = createDeliveryAttempts(channel, stopping, deps);
  const inFlight = new Set<Promise<void>>();
  /** One of what processes left that have ended at a time: the one that ends this one too takes none of the others with it. */
  let isRunningAbandoned = false;

  /** Takes on what is due and there is room for; resolves with whether there may be more of it. */
  async function startDue(isStopping: () => boolean): Promise<boolean> {
    await fanOut(isStopping);
    if (inFlight.size === channel.concurrency) return true;
    const owner = randomUUID();
    const wasRunningAbandoned = isRunningAbandoned;
    const left = wasRunningAbandoned ? undefined : await attempt.leaseExpired(owner);
    if (left !== undefined) {
      isRunningAbandoned = true;
      void start(left, owner, attempt.limit()).then(() => {
        isRunningAbandoned = false;
      });
    }
    const room = channel.concurrency - inFlight.size;
    const due = room === 0 ? [] : await attempt.lease(owner, room);
    if (due.length > 0) {
      const limit = attempt.limit();
      for (const delivery of due) void start(delivery, owner, limit);
    }
    // Where it has ended meanwhile, the next one of its kind may start.
    return left !== undefined || due.length === room || (wasRunningAbandoned && !isRunningAbandoned);
  }

  function start(delivery: DueDelivery, owner: string, limit: AbortSignal): Promise<void> {
    const running = attempt.run(delivery, owner, limit).finally(() => inFlight.delete(running));
    inFlight.add(running);
    return running;
  }

  return {
    async work(isStopping) {
      await attempt.repairTimes();
      while (!isStopping() && (await startDue(isStopping)))
        if (inFlight.size > 0) await Promise.race(inFlight);
    },
    ended: () => Promise.all(inFlight),
  };
}
