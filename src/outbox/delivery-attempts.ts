import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock, DeliveryPolicy, Log } from "../domain/index.ts";
import { nextDeliveryAt } from "../domain/index.ts";
import type { Tracer } from "../observability/tracing/index.ts";
import type { Deliveries, DeliveryLease, DueDelivery, Outbox } from "../store/index.ts";
import { type Channel, DeliveryPostponedError, messageId, PermanentDeliveryError } from "./channel.ts";

/** A lease outlives its attempt, so that only a dead process loses one. */
const LEASE_MARGIN_MS = 10_000;

/** Leases deliveries of one channel and tries them; nothing that happens to an attempt is thrown. */
export interface DeliveryAttempts {
  lease(owner: string, limit: number): Promise<DueDelivery[]>;
  /** One that a process which has ended left in the middle of its attempt. */
  leaseExpired(owner: string): Promise<DueDelivery | undefined>;
  /** Mends what a clock that was set back has done. */
  repairTimes(): Promise<void>;
  /** What is leased together has one time limit. */
  limit(): AbortSignal;
  run(delivery: DueDelivery, owner: string, limit: AbortSignal): Promise<void>;
}

/** @param stopping aborted when the process can wait no longer for what is under way */
export function createDeliveryAttempts(
  channel: Channel,
  stopping: AbortSignal,
  deps: OutboxDependencies,
): DeliveryAttempts {
  const { deliveries, clock, log, attempted } = deps;
  const settle = createSettling(deps);

  async function run(delivery: DueDelivery, owner: string, limit: AbortSignal): Promise<void> {
    const fields = { id: messageId(delivery.notification), channel: delivery.channel };
    try {
      if (delivery.attempts > deps.policy.attempts) await giveUp(delivery, owner, fields);
      else await deliver(delivery, owner, limit, fields);
    } catch (error) {
      log.error(
        { ...fields, err: error },
        "the end of a delivery could not be stored; it may be tried again",
      );
    }
  }

  /** The attempt that the lease counted is one too many: a process died during the last one, or fewer are allowed now. */
  async function giveUp(delivery: DueDelivery, owner: string, fields: object): Promise<void> {
    const before = delivery.error === null ? "" : `; the attempt before: ${delivery.error}`;
    const error =
      `none of the ${deps.policy.attempts} attempts is left: the process that made the last one has died, or ` +
      `NOTIFY_ATTEMPTS was lowered${before}`;
    await deliveries.markDead(delivery.id, owner, error);
    attempted(channel.name, "dead");
    log.error(fields, "a notification has no attempt left; it waits for a person");
  }

  async function deliver(
    delivery: DueDelivery,
    owner: string,
    limit: AbortSignal,
    fields: object,
  ): Promise<void> {
    const { notification } = delivery;
    const phase = deps.tracer?.startDelivery(channel.name, notification.topic, notification);
    let failure: unknown;
    try {
      await channel.deliver(notification, limit, delivery.channel, phase?.headers);
      phase?.end();
    } catch (error) {
      failure = error ?? new Error("the channel failed without a reason");
      phase?.fail(failure);
    }
    if (failure === undefined) {
      await settle(delivery.id, owner);
      attempted(channel.name, "delivered");
      log.debug(fields, "notification delivered");
    } else if (stopping.aborted && failure === stopping.reason) {
      // The other side did nothing wrong, and many restarts must not make a delivery dead.
      await deliveries.release(delivery.id, owner);
      log.debug(fields, "an attempt was given up because the process stops; it does not count");
    } else await fail(delivery, owner, failure, fields);
  }

  async function fail(delivery: DueDelivery, owner: string, failure: unknown, fields: object): Promise<void> {
    const next = nextAttempt(delivery, failure, deps);
    await deliveries.markFailed(delivery.id, owner, deps.describe(failure), next, clock.now());
    attempted(channel.name, next === null ? "dead" : "failed");
    const told = {
      ...fields,
      err: failure,
      attempt: delivery.attempts,
      next_attempt_at: next?.toISOString() ?? null,
    };
    if (next === null) log.error(told, "a notification could not be delivered and waits for a person");
    else log.warn(told, "a notification could not be delivered; it is tried again");
  }

  return {
    ...leasesOf(channel, deps),
    limit: () => AbortSignal.any([AbortSignal.timeout(channel.timeLimitMs), stopping]),
    run,
  };
}

function leasesOf(
  channel: Channel,
  { deliveries, clock, policy }: OutboxDependencies,
): Pick<DeliveryAttempts, "lease" | "leaseExpired" | "repairTimes"> {
  const leaseMs = channel.timeLimitMs + LEASE_MARGIN_MS;
  const { destinations } = channel;
  const newLease = (owner: string): DeliveryLease => {
    const now = clock.now();
    const later = (ms: number) => new Date(now.getTime() + ms);
    return { owner, now, until: later(leaseMs), retryAt: later(policy.firstDelaySeconds * 1_000) };
  };
  return {
    lease: (owner, limit) => deliveries.leaseDue(destinations, newLease(owner), limit),
    leaseExpired: (owner) => deliveries.leaseExpired(destinations, newLease(owner)),
    repairTimes: () => deliveries.repairTimes(destinations, leaseMs, clock.now()),
  };
}

/** Deliveries of one lease that are done in the same turn of the event loop end with one statement. */
function createSettling({
  deliveries,
  clock,
}: OutboxDependencies): (id: number, owner: string) => Promise<unknown> {
  const turns = new Map<string, { readonly ids: number[]; readonly settled: Promise<unknown> }>();
  return (id, owner) => {
    let turn = turns.get(owner);
    if (turn === undefined) {
      const ids: number[] = [];
      const settled = nextTurn().then(() => {
        turns.delete(owner);
        return deliveries.markDelivered(ids, owner, clock.now());
      });
      turn = { ids, settled };
      turns.set(owner, turn);
    }
    turn.ids.push(id);
    return turn.settled;
  };
}

function nextAttempt(
  delivery: DueDelivery,
  failure: unknown,
  { policy, clock }: OutboxDependencies,
): Date | null {
  if (failure instanceof PermanentDeliveryError) return null;
  const askedFor = failure instanceof DeliveryPostponedError ? failure.seconds : 0;
  return nextDeliveryAt(policy, delivery.attempts, clock.now(), Math.random(), askedFor) ?? null;
}

/** What the outbox works with; made once at the start. */
export interface OutboxDependencies {
  readonly outbox: Outbox;
  readonly deliveries: Deliveries;
  readonly channels: readonly Channel[];
  readonly policy: DeliveryPolicy;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where tracing is off. */
  readonly tracer?: Tracer | undefined;
  /** An error with its causes, secrets masked. */
  readonly describe: (error: unknown) => string;
  /** Told how each attempt ended; may not throw. */
  readonly attempted: (channel: string, outcome: "delivered" | "failed" | "dead") => void;
}
