import type { JsonObject } from "../domain/index.ts";
import type { Lease } from "./lease.ts";
import type { Page } from "./page.ts";

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

/** The outbox: notifications become deliveries, one a channel, which are leased, tried and settled. */
export interface OutboxStore {
  /** Makes the deliveries of notifications that have none yet, oldest first; returns how many notifications. */
  spread(channels: readonly string[], now: Date, limit: number): Promise<number>;
  /** The due deliveries of these channels, oldest first, each leased to one owner only. */
  leaseDue(channels: readonly string[], lease: Lease, limit: number): Promise<DueDelivery[]>;
  /** False when the lease was lost to somebody else meanwhile. */
  delivered(id: number, owner: string, now: Date): Promise<boolean>;
  /** `nextAttemptAt` null: no further attempt, the delivery is dead. */
  failed(id: number, owner: string, error: string, nextAttemptAt: Date | null): Promise<void>;
  /** Makes the dead deliveries of a notification due again, from their first attempt; returns how many. */
  revive(notificationId: number, now: Date): Promise<number>;
  list(page: Page, filter: { state?: StoredDelivery["state"] }): Promise<ListedNotification[]>;
  /** Those that are not delivered. */
  counts(): Promise<Record<"waiting" | "dead", number>>;
}
