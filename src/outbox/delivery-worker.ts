import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, getOrMake, type Log, nextAttemptAt, type RetryPolicy, retryDelayMs } from "../domain/index.ts";
import type { Tracer } from "../observability/tracing/index.ts";
import type { DueNotification, NotificationDeliveries, NotificationLease, Outbox } from "../store/index.ts";
import { type Channel, DeliveryPostponedError, messageId, PermanentDeliveryError } from "./channel.ts";

export interface OutboxDependencies {
  readonly outbox: Outbox;
  readonly deliveries: NotificationDeliveries;
  readonly channels: readonly Channel[];
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where tracing is off. */
  readonly tracer?: Tracer | undefined;
  /** An error with its causes, secrets masked. */
  readonly describe: (error: unknown) => string;
  /** Called with how each attempt ended. It must not throw. */
  readonly attempted: (channel: string, outcome: "delivered" | "failed" | "dead") => void;
}

/** How many attempts of a channel may be under way at a time. */
const MAX_IN_FLIGHT = 16;
/** A lease outlives its attempt, so that only a dead process loses one. */
const LEASE_MARGIN_MS = 10_000;

/** A leased delivery, with the time limit and the log fields of its attempt. */
interface Attempt {
  readonly delivery: DueNotification;
  readonly owner: string;
  /** Deliveries that are leased together have one time limit. */
  readonly limit: AbortSignal;
  readonly fields: object;
}

/** Leases the deliveries of one channel and runs a few attempts at a time. It catches all errors of an attempt. */
export class DeliveryWorker {
  readonly #channel: Channel;
  readonly #stopping: AbortSignal;
  readonly #deps: OutboxDependencies;
  readonly #inFlight = new Set<Promise<void>>();
  /** One abandoned delivery runs at a time: if it ends this process too, it interrupts no other abandoned one. */
  #isRunningAbandoned = false;
  readonly #delivered = new Map<string, { readonly ids: number[]; readonly settled: Promise<unknown> }>();

  /** @param stopping aborted when the process can wait no longer for attempts under way */
  constructor(channel: Channel, stopping: AbortSignal, deps: OutboxDependencies) {
    this.#channel = channel;
    this.#stopping = stopping;
    this.#deps = deps;
  }

  /** Takes on what is due. @param fanOut makes deliveries of fresh notifications, before each look */
  async work(fanOut: () => Promise<void>, isStopping: () => boolean): Promise<void> {
    const { deliveries, clock } = this.#deps;
    // A clock that was set back has postponed them.
    await deliveries.repairTimes(this.#channel.destinations, this.#leaseMs, clock.now());
    while (!isStopping()) {
      await fanOut();
      if (!(await this.#startDue())) return;
      if (this.#inFlight.size > 0) await Promise.race(this.#inFlight);
    }
  }

  /** Resolves when the attempts under way have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  /** Starts as many due deliveries as there is room for; resolves with whether more may be due. */
  async #startDue(): Promise<boolean> {
    const { destinations } = this.#channel;
    const { deliveries } = this.#deps;
    if (this.#inFlight.size === MAX_IN_FLIGHT) return true;
    const wasRunningAbandoned = this.#isRunningAbandoned;
    const expiredLease = this.#newLease();
    const abandoned = wasRunningAbandoned ? undefined : await deliveries.leaseExpired(destinations, expiredLease);
    if (abandoned !== undefined) {
      this.#isRunningAbandoned = true;
      void this.#start(abandoned, expiredLease.owner, this.#newLimit()).then(() => {
        this.#isRunningAbandoned = false;
      });
    }
    const room = MAX_IN_FLIGHT - this.#inFlight.size;
    const lease = this.#newLease();
    const due = room === 0 ? [] : await deliveries.leaseDue(destinations, lease, room);
    const limit = due.length > 0 ? this.#newLimit() : this.#stopping;
    for (const delivery of due) void this.#start(delivery, lease.owner, limit);
    // The next abandoned one may start if that before it has ended meanwhile.
    return abandoned !== undefined || due.length === room || (wasRunningAbandoned && !this.#isRunningAbandoned);
  }

  get #leaseMs(): number {
    return this.#channel.timeLimitMs + LEASE_MARGIN_MS;
  }

  /** Under a new owner: where the database's response is lost, all that the owner holds is released. */
  #newLease(): NotificationLease {
    const now = this.#deps.clock.now();
    const later = (ms: number) => new Date(now.getTime() + ms);
    const retryAt = later(retryDelayMs(this.#deps.policy, 0, 0));
    return { owner: randomUUID(), now, until: later(this.#leaseMs), retryAt };
  }

  #newLimit(): AbortSignal {
    return AbortSignal.any([AbortSignal.timeout(this.#channel.timeLimitMs), this.#stopping]);
  }

  #start(delivery: DueNotification, owner: string, limit: AbortSignal): Promise<void> {
    const { policy, log } = this.#deps;
    const fields = { id: messageId(delivery.notification), channel: delivery.channel };
    const attempt = { delivery, owner, limit, fields };
    const ended = delivery.attempts > policy.max + 1 ? this.#giveUp(attempt) : this.#deliver(attempt);
    const running = ended
      .catch((error: unknown) => {
        const message = "the end of a delivery could not be stored; it may be tried again";
        log.error({ ...fields, err: error }, message);
      })
      .finally(() => this.#inFlight.delete(running));
    this.#inFlight.add(running);
    return running;
  }

  /** The lease counted one attempt too many: a process died during the last one, or NOTIFY_ATTEMPTS was lowered. */
  async #giveUp({ delivery, owner, fields }: Attempt): Promise<void> {
    const { deliveries, policy, attempted, log } = this.#deps;
    const before = delivery.error === null ? "" : `; the attempt before: ${delivery.error}`;
    const error =
      `none of the ${policy.max + 1} attempts is left: the process that made the last one has died, or ` +
      `NOTIFY_ATTEMPTS was lowered${before}`;
    await deliveries.markDead(delivery.id, owner, error);
    attempted(this.#channel.name, "dead");
    log.error(fields, "a notification has no attempt left; replay or discard it");
  }

  async #deliver(attempt: Attempt): Promise<void> {
    const { delivery, owner, limit, fields } = attempt;
    const { deliveries, attempted, log, tracer } = this.#deps;
    const { notification } = delivery;
    const span = tracer?.startDelivery(this.#channel.name, notification.topic, notification);
    try {
      await this.#channel.deliver(notification, limit, delivery.channel, span?.headers);
      span?.end();
    } catch (error) {
      const failure = error ?? new Error("the channel failed without a reason");
      span?.fail(failure);
      if (!this.#stopping.aborted || failure !== this.#stopping.reason) return this.#fail(attempt, failure);
      // The other side did nothing wrong, and many restarts must not make a delivery dead.
      await deliveries.release(delivery.id, owner);
      return log.debug(fields, "an attempt was given up because the process stops; it does not count");
    }
    await this.#settle(delivery.id, owner);
    attempted(this.#channel.name, "delivered");
    log.debug(fields, "notification delivered");
  }

  /** Deliveries of one lease that are done in the same turn of the event loop end with one statement. */
  #settle(id: number, owner: string): Promise<unknown> {
    const turn = getOrMake(this.#delivered, owner, () => {
      const { deliveries, clock } = this.#deps;
      const ids: number[] = [];
      const settled = nextTurn().then(() => {
        this.#delivered.delete(owner);
        return deliveries.markDelivered(ids, owner, clock.now());
      });
      return { ids, settled };
    });
    turn.ids.push(id);
    return turn.settled;
  }

  async #fail({ delivery, owner, fields }: Attempt, failure: unknown): Promise<void> {
    const { deliveries, clock, describe, policy, attempted, log } = this.#deps;
    const { id, attempts } = delivery;
    const askedFor = failure instanceof DeliveryPostponedError ? failure.seconds : 0;
    const isPermanent = failure instanceof PermanentDeliveryError;
    const now = clock.now();
    const scheduled = isPermanent ? undefined : nextAttemptAt(policy, attempts - 1, now, Math.random());
    // A receiver may ask for a longer pause, but for none longer than the schedule's longest.
    const askedMs = Math.min(askedFor * 1_000, retryDelayMs(policy, Number.POSITIVE_INFINITY, 0));
    const next = scheduled && new Date(Math.max(scheduled.getTime(), now.getTime() + askedMs));
    await deliveries.markFailed(id, owner, describe(failure), next ?? null, now);
    attempted(this.#channel.name, next === undefined ? "dead" : "failed");
    const next_attempt_at = next?.toISOString() ?? null;
    const logged = { ...fields, err: failure, attempt: attempts, next_attempt_at };
    if (next === undefined) log.error(logged, "a notification could not be delivered; replay or discard it");
    else log.warn(logged, "a notification could not be delivered; it is tried again");
  }
}
