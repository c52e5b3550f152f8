import { randomUUID } from "node:crypto";
import { type Clock, type DeliveryPolicy, type Log, nextDeliveryAt } from "../domain/index.ts";
import { createLoop, type Loop } from "../loop/index.ts";
import type { DueDelivery, OutboxStore } from "../store/index.ts";
import { type Channel, DeliveryPostponed, DeliveryRefused } from "./channel.ts";
import { messageId } from "./message-id.ts";

export interface OutboxDeps {
  readonly outbox: OutboxStore;
  readonly channels: readonly Channel[];
  readonly policy: DeliveryPolicy;
  readonly clock: Clock;
  readonly log: Log;
  /** An error with its causes, secrets masked. */
  readonly describe: (error: unknown) => string;
  /** Told how each attempt ended; may not throw. */
  readonly attempted: (channel: string, ending: "delivered" | "failed" | "dead") => void;
}

const AT_ONCE = 16;
const SPREAD_AT_ONCE = 200;
const TIME_LIMIT_MS = 20_000;
const STOP_PATIENCE_MS = 4_000;
/** A lease outlives its attempt, so that only a dead process loses one. */
const LEASE_MS = 30_000;

/**
 * Delivers what handlers have committed: at least once, with one id at every attempt. The leases let any number of
 * processes share the work, and a process that dies loses none of it.
 */
export function createOutboxLoop(deps: OutboxDeps): Loop {
  const { outbox, channels, clock, log } = deps;
  const stopping = new AbortController();
  const names = channels.map(({ name }) => name);

  /** Makes deliveries of new notifications, then tries what is due on one channel; resolves with how many. */
  async function round(channel: string): Promise<number> {
    while ((await outbox.spread(names, clock.now(), SPREAD_AT_ONCE)) === SPREAD_AT_ONCE);
    const owner = randomUUID();
    const now = clock.now();
    const lease = { owner, now, until: new Date(now.getTime() + LEASE_MS) };
    const due = await outbox.leaseDue([channel], lease, AT_ONCE);
    await Promise.all(due.map((delivery) => tryOne(delivery, owner)));
    return due.length;
  }

  async function tryOne(delivery: DueDelivery, owner: string): Promise<void> {
    const fields = { id: messageId(delivery.notification), channel: delivery.channel };
    const signal = AbortSignal.any([AbortSignal.timeout(TIME_LIMIT_MS), stopping.signal]);
    try {
      await deliver(delivery, owner, fields, signal, deps);
    } catch (error) {
      log.error(
        { ...fields, err: error },
        "the end of a delivery could not be stored; it may be tried again",
      );
    }
  }

  // A loop for each, so that a channel whose receiver hangs does not keep the others waiting.
  const loops = names.map((channel) =>
    createLoop(
      async (isStopping) => {
        // A round that found a full load is followed by the next one at once.
        while ((await round(channel)) === AT_ONCE && !isStopping());
      },
      (error) => log.error({ err: error, channel }, "due notifications could not be looked up"),
    ),
  );
  return {
    start(intervalMs) {
      for (const loop of loops) loop.start(intervalMs);
    },
    async stop() {
      // What is under way may end; what hangs is given up, and is tried again after the next start.
      const timer = setTimeout(() => stopping.abort(new Error("the process stops")), STOP_PATIENCE_MS);
      await Promise.all(loops.map((loop) => loop.stop()));
      clearTimeout(timer);
      await Promise.all(channels.map((channel) => channel.close?.()));
    },
  };
}

async function deliver(
  delivery: DueDelivery,
  owner: string,
  fields: object,
  signal: AbortSignal,
  deps: OutboxDeps,
): Promise<void> {
  const { outbox, channels, clock, log, attempted } = deps;
  const channel = channels.find(({ name }) => name === delivery.channel) as Channel;
  let failure: unknown;
  try {
    await Promise.race([channel.deliver(delivery.notification, signal), abortOf(signal)]);
  } catch (error) {
    failure = error ?? new Error("the channel failed without a reason");
  }
  if (failure === undefined) {
    await outbox.delivered(delivery.id, owner, clock.now());
    attempted(delivery.channel, "delivered");
    log.debug(fields, "notification delivered");
    return;
  }
  const next = nextAttempt(delivery, failure, deps);
  await outbox.failed(delivery.id, owner, deps.describe(failure), next);
  attempted(delivery.channel, next === null ? "dead" : "failed");
  const told = { ...fields, attempt: delivery.attempts + 1, next_attempt_at: next?.toISOString() ?? null };
  if (next === null)
    log.error({ ...told, err: failure }, "a notification could not be delivered and waits for a person");
  else log.warn({ ...told, err: failure }, "a notification could not be delivered; it is tried again");
}

/** Not every channel heeds the signal. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function nextAttempt(delivery: DueDelivery, failure: unknown, { policy, clock }: OutboxDeps): Date | null {
  if (failure instanceof DeliveryRefused) return null;
  const askedFor = failure instanceof DeliveryPostponed ? failure.seconds : 0;
  return nextDeliveryAt(policy, delivery.attempts + 1, clock.now(), Math.random(), askedFor) ?? null;
}
