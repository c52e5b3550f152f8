import type { EventKey, JsonObject } from "../domain/index.ts";
import type { Lease } from "./lease.ts";
import type { Found, Page, Search } from "./page.ts";

/** What a handler asked to be sent, as it was committed with its event. */
export interface StoredNotification {
  readonly id: number;
  /** The same at every attempt and on every channel: a receiver tells duplicates by it. */
  readonly idempotencyKey: string;
  readonly source: string;
  readonly eventId: string;
  readonly topic: string;
  readonly payload: JsonObject;
  readonly createdAt: string;
}

/** One notification on its way through one channel. */
export interface StoredDelivery {
  readonly id: number;
  readonly channel: string;
  readonly state: "waiting" | "delivered" | "dead";
  readonly attempts: number;
  readonly error: string | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
}

export interface DueDelivery extends StoredDelivery {
  readonly notification: StoredNotification;
}

export interface ListedNotification extends StoredNotification {
  readonly deliveries: readonly StoredDelivery[];
}

/** Which notifications a list shows: those that have a delivery in this state. One not spread yet counts as waiting. */
export interface NotificationFilter {
  readonly state?: StoredDelivery["state"];
}

/** An event that has a record: what `StoredRecord` says of it. */
export interface HandledEvent extends EventKey {
  readonly createdAt: string;
  readonly processedAt: string | null;
}

/** What became of a notification's dead deliveries. */
export interface Revived {
  readonly deliveries: number;
  /** Channels that have a dead one and are not among those that were given: nobody would deliver it. */
  readonly notConfigured: readonly string[];
}

export interface DeliveryLease extends Lease {
  /** Where the process ends during the attempt, the next one comes then at the earliest; default: when the lease has expired. */
  readonly retryAt?: Date;
}

/** The outbox: notifications become deliveries, one a channel, which are leased, tried and settled. */
export interface OutboxStore {
  /** Makes the deliveries of notifications that have none yet, oldest first; returns how many notifications. */
  spread(channels: readonly string[], now: Date, limit: number): Promise<number>;
  /**
   * Passes notifications that have no deliveries yet to the only channel there is, oldest first, in one transaction:
   * with the commit they are delivered. Nobody else is given the same ones meanwhile. Returns how many.
   * @param take takes them at once; they are given again where the transaction does not commit
   */
  passOn(
    channel: string,
    now: Date,
    limit: number,
    take: (notifications: readonly StoredNotification[]) => void,
  ): Promise<number>;
  /**
   * The due deliveries of these channels, the oldest ones, each leased to one owner only. The attempt is counted
   * here already, so that one during which the process dies counts too.
   */
  leaseDue(channels: readonly string[], lease: DeliveryLease, limit: number): Promise<DueDelivery[]>;
  /**
   * One delivery whose lease has expired, the one with the fewest attempts: its process has ended. An attempt that was cut off
   * beside others is made again at no cost; one that was leased here, and cut off too, counts.
   */
  leaseLeft(channels: readonly string[], lease: DeliveryLease): Promise<DueDelivery | undefined>;
  /**
   * Mends what a clock that was set back has done to deliveries of these channels: leases that last longer than two of `leaseMs`
   * are cut to one, and times that were set later than now come as long after now as they were to come after then.
   */
  mendTimes(channels: readonly string[], leaseMs: number, now: Date): Promise<void>;
  /** Ends deliveries that were taken; returns how many, without those whose lease was lost to somebody else meanwhile. */
  delivered(ids: readonly number[], owner: string, now: Date): Promise<number>;
  /** `nextAttemptAt` null: no further attempt, the delivery is dead. `now` tells later whether the clock was set back. */
  failed(id: number, owner: string, error: string, nextAttemptAt: Date | null, now?: Date): Promise<void>;
  /** Gives a lease back: the attempt that it counted was not made to its end, by no fault of the other side. */
  release(id: number, owner: string): Promise<void>;
  /** Ends a delivery whose attempts were used up before this lease, which counts as none. */
  giveUp(id: number, owner: string, error: string): Promise<void>;
  /** Makes the dead deliveries of a notification to these channels due again, from their first attempt. */
  revive(notificationId: number, channels: readonly string[], now: Date): Promise<Revived>;
  /**
   * Deletes the deliveries of a notification that wait or are dead, of one channel or of all; returns how many.
   * `leased`: there are none but those that are being tried right now, whose effect could still happen.
   */
  discard(notificationId: number, channel: string | undefined, now: Date): Promise<number | "leased">;
  /** A bounded look: what is not found within its time is found when it goes on. */
  search(filter: NotificationFilter, search: Search): Promise<Found<ListedNotification>>;
  /** A page, however long it takes to find. */
  list(page: Page, filter: NotificationFilter): Promise<readonly ListedNotification[]>;
  /** The notifications of one event, oldest first. */
  ofEvent(event: HandledEvent, limit: number): Promise<ListedNotification[]>;
  /** Those that are not delivered. */
  counts(): Promise<Record<"waiting" | "dead", number>>;
  /** The channels that have deliveries which wait, configured or not, with how many. */
  waitingByChannel(): Promise<ReadonlyMap<string, number>>;
}
