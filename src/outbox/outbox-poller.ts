import type { StoredNotification } from "../store/index.ts";
import { createPoller, joinedRounds } from "../system/index.ts";
import type { Channel } from "./channel.ts";
import { DeliveryWorker, type OutboxDependencies } from "./delivery-worker.ts";

const FAN_OUT_BATCH = 250;
/** So few that a callback waits for them for about a millisecond. */
const PASS_ON_BATCH = 32;
/** After a round with notifications more follow. A second's worth at once would hold the event loop for 250 ms. */
const PASS_ON_PAUSE_MS = 5;
const STOP_TIMEOUT_MS = 4_000;

/**
 * Delivers the notifications of committed handlers: at least once, with one id at every attempt. The leases let any number
 * of processes share the work, and a process that dies loses none of it.
 */
export function createOutboxPoller(deps: OutboxDependencies) {
  const { outbox, channels, clock, log } = deps;
  const stopping = new AbortController();
  const passOn = createPassOn(deps);
  const destinationsOf = (takesOnly: Channel["takesOnly"]) =>
    channels.filter((channel) => channel.takesOnly === takesOnly).flatMap((channel) => channel.destinations);
  const destinations = destinationsOf(undefined);
  const alertDestinations = destinationsOf("alerts");
  /** Makes deliveries of fresh notifications, for the channels' workers. */
  const fanOut = async (isStopping: () => boolean) => {
    if (passOn !== undefined) return;
    const next = () => outbox.fanOut(destinations, clock.now(), FAN_OUT_BATCH, alertDestinations);
    while ((await next()) === FAN_OUT_BATCH && !isStopping());
  };
  const workers = channels.map((channel) => new DeliveryWorker(channel, stopping.signal, deps));
  const work = (worker: DeliveryWorker, isStopping: () => boolean) => worker.work(() => fanOut(isStopping), isStopping);
  const ended = () => Promise.all(workers.map((worker) => worker.ended()));
  const failedOn = (channel: Channel | undefined) => (error: unknown) =>
    log.error({ err: error, channel: channel?.name }, "due notifications could not be looked up");
  // A loop for each channel, so that one whose receiver hangs does not keep the others waiting.
  const loops = workers.map((worker, index) =>
    createPoller((isStopping) => work(worker, isStopping), failedOn(channels[index])),
  );
  if (passOn !== undefined)
    loops.push(createPoller(passOn, failedOn(channels[0]), (taken) => (taken > 0 ? PASS_ON_PAUSE_MS : undefined)));
  return {
    start(intervalMs: number): void {
      for (const loop of loops) loop.start(intervalMs);
    },
    rounds: () => joinedRounds(loops.map((loop) => loop.rounds())),
    /** One round on each channel: takes on all that is due, resolves when its attempts have ended. */
    async round(isOver = () => false): Promise<void> {
      await passOn?.(isOver);
      await Promise.all(workers.map((worker) => work(worker, isOver)));
      await ended();
    },
    async stop(): Promise<void> {
      // Attempts under way may end; one that hangs is aborted, and tried again after the next start.
      const timer = setTimeout(() => stopping.abort(new Error("the process stops")), STOP_TIMEOUT_MS);
      await Promise.all(loops.map((loop) => loop.stop()));
      await ended();
      clearTimeout(timer);
      await Promise.all(channels.map((channel) => channel.close?.()));
    },
  };
}

/**
 * Passes fresh notifications on at once, where the only channel neither takes time nor fails.
 * @returns a round that resolves with their number; undefined for other channels
 */
function createPassOn({ outbox, channels, clock, attempted }: OutboxDependencies) {
  const [only] = channels;
  const [destination, ...further] = only?.destinations ?? [];
  if (only?.deliverNow === undefined || destination === undefined || channels.length + further.length > 1)
    return undefined;

  function takeAll(notifications: readonly StoredNotification[]): void {
    for (const notification of notifications) {
      only?.deliverNow?.(notification);
      attempted(only?.name ?? "", "delivered");
    }
  }

  return async (isStopping: () => boolean): Promise<number> => {
    for (let taken = 0; ; ) {
      const batch = await outbox.deliverDirectly(destination, clock.now(), PASS_ON_BATCH, takeAll);
      taken += batch;
      if (batch < PASS_ON_BATCH || isStopping()) return taken;
    }
  };
}
