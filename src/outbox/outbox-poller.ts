import { createPoller } from "../poller/index.ts";
import type { StoredNotification } from "../store/index.ts";
import { DeliveryWorker, type OutboxDependencies } from "./delivery-worker.ts";

const FAN_OUT_BATCH = 250;
const STOP_TIMEOUT_MS = 4_000;

/**
 * Delivers what handlers have committed: at least once, with one id at every attempt. The leases let any number of
 * processes share the work, and a process that dies loses none of it.
 */
export function createOutboxPoller(deps: OutboxDependencies) {
  const { channels, log } = deps;
  const stopping = new AbortController();
  const fanOut = createFanOut(deps);
  const workers = channels.map((channel) => new DeliveryWorker(channel, stopping.signal, deps));
  const work = (worker: DeliveryWorker, isStopping: () => boolean) =>
    worker.work(() => fanOut(isStopping), isStopping);
  const ended = () => Promise.all(workers.map((worker) => worker.ended()));
  // A loop for each, so that a channel whose receiver hangs does not keep the others waiting.
  const loops = workers.map((worker, index) =>
    createPoller(
      (isStopping) => work(worker, isStopping),
      (error) =>
        log.error({ err: error, channel: channels[index]?.name }, "due notifications could not be looked up"),
    ),
  );
  return {
    start(intervalMs: number): void {
      for (const loop of loops) loop.start(intervalMs);
    },
    /** One round on each channel: takes on all that is due, resolves when its attempts have ended. */
    async round(): Promise<void> {
      await Promise.all(workers.map((worker) => work(worker, () => false)));
      await ended();
    },
    async stop(): Promise<void> {
      // What is under way may end; what hangs is given up, and is tried again after the next start.
      const timer = setTimeout(() => stopping.abort(new Error("the process stops")), STOP_TIMEOUT_MS);
      await Promise.all(loops.map((loop) => loop.stop()));
      await ended();
      clearTimeout(timer);
      await Promise.all(channels.map((channel) => channel.close?.()));
    },
  };
}

/** What happens to fresh notifications: they become deliveries, or are passed on at once. */
function createFanOut({ outbox, channels, clock, attempted }: OutboxDependencies) {
  const destinations = channels.flatMap((channel) => channel.destinations);
  const [only] = channels;
  const take = channels.length === 1 && destinations.length === 1 ? only?.deliverNow : undefined;
  const step =
    only === undefined || take === undefined
      ? () => outbox.fanOut(destinations, clock.now(), FAN_OUT_BATCH)
      : () => outbox.deliverDirectly(destinations[0] ?? "", clock.now(), FAN_OUT_BATCH, takeAll);
  return async (isStopping: () => boolean): Promise<void> => {
    while ((await step()) === FAN_OUT_BATCH && !isStopping());
  };

  function takeAll(notifications: readonly StoredNotification[]): void {
    for (const notification of notifications) {
      take?.(notification);
      attempted(only?.name ?? "", "delivered");
    }
  }
}
