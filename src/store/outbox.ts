import type { Selectable } from "kysely";
import { type RawBuilder, sql } from "kysely";
import type { EventKey, JsonObject } from "../domain/index.ts";
import { idList, isoTime } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { Lease } from "./lease.ts";
import { isUnleased } from "./lease.ts";
import type { Page, SearchPage, SearchResult } from "./paging.ts";
import type { DeliveryRow, NotificationRow } from "./tables.ts";

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
export interface RedeliveryResult {
  readonly deliveries: number;
  /** Channels with dead deliveries that are not configured: their deliveries stay dead. */
  readonly notConfigured: readonly string[];
}

export interface DeliveryLease extends Lease {
  /** Where the process ends during the attempt, the next one comes then at the earliest; default: when the lease has expired. */
  readonly retryAt?: Date;
}

/** The outbox: notifications become deliveries, one a channel, which are leased, tried and settled. */
export interface OutboxStore {
  /** Makes the deliveries of notifications that have none yet, oldest first; returns how many notifications. */
  fanOut(channels: readonly string[], now: Date, limit: number): Promise<number>;
  /**
   * Passes notifications that have no deliveries yet to the only channel there is, oldest first, in one transaction:
   * with the commit they are delivered. No other process gets the same ones. Returns how many.
   * @param take takes them at once; they are given again where the transaction does not commit
   */
  deliverDirectly(
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
  leaseExpired(channels: readonly string[], lease: DeliveryLease): Promise<DueDelivery | undefined>;
  /**
   * Mends what a clock that was set back has done to deliveries of these channels: leases that last longer than two of `leaseMs`
   * are cut to one, and times that were set later than now come as long after now as they were to come after then.
   */
  repairTimes(channels: readonly string[], leaseMs: number, now: Date): Promise<void>;
  /** Ends deliveries that were taken; returns how many, without those whose lease another process took over. */
  markDelivered(ids: readonly number[], owner: string, now: Date): Promise<number>;
  /** `nextAttemptAt` null: no further attempt, the delivery is dead. `now` tells later whether the clock was set back. */
  markFailed(id: number, owner: string, error: string, nextAttemptAt: Date | null, now?: Date): Promise<void>;
  /** Gives a lease back: the attempt that it counted was not made to its end, by no fault of the other side. */
  release(id: number, owner: string): Promise<void>;
  /** Ends a delivery whose attempts were used up before this lease, which counts as none. */
  markDead(id: number, owner: string, error: string): Promise<void>;
  /** Makes the dead deliveries of a notification to these channels due again, from their first attempt. */
  redeliverDead(notificationId: number, channels: readonly string[], now: Date): Promise<RedeliveryResult>;
  /**
   * Deletes the deliveries of a notification that wait or are dead, of one channel or of all; returns how many.
   * `leased`: there are none but those that are being tried right now, whose effect could still happen.
   */
  discard(notificationId: number, channel: string | undefined, now: Date): Promise<number | "leased">;
  /** A bounded look: what is not found within its time is found when it goes on. */
  search(filter: NotificationFilter, search: SearchPage): Promise<SearchResult<ListedNotification>>;
  /** A page, however long it takes to find. */
  list(page: Page, filter: NotificationFilter): Promise<readonly ListedNotification[]>;
  /** The notifications of one event, oldest first. */
  ofEvent(event: HandledEvent, limit: number): Promise<ListedNotification[]>;
  /** Those that are not delivered. */
  counts(): Promise<Record<"waiting" | "dead", number>>;
  /** The channels that have deliveries which wait, configured or not, with how many. */
  waitingByChannel(): Promise<ReadonlyMap<string, number>>;
}

export function toNotification(row: Selectable<NotificationRow>): StoredNotification {
  return {
    id: Number(row.id),
    idempotencyKey: `${row.source}/${row.event_id}/${row.position}`,
    source: row.source,
    eventId: row.event_id,
    topic: row.topic,
    payload: JSON.parse(row.payload),
    createdAt: isoTime(row.created_at),
  };
}

export function toDelivery(row: Selectable<DeliveryRow>): StoredDelivery {
  return {
    id: Number(row.id),
    channel: row.channel,
    state: row.state,
    attempts: row.attempts,
    error: row.error,
    nextAttemptAt: row.next_attempt_at === null ? null : isoTime(row.next_attempt_at),
    deliveredAt: row.delivered_at === null ? null : isoTime(row.delivered_at),
  };
}

const NOTIFICATIONS = "oncehook_notifications";

/**
 * The deliveries first, then the mark: a process that dies between the two leaves a notification that is spread
 * again, to the deliveries it has.
 */
export async function fanOut(
  { write, read, dialect }: Database,
  channels: readonly string[],
  now: Date,
  limit: number,
): Promise<number> {
  const fresh = await read
    .selectFrom(NOTIFICATIONS)
    .select("id")
    .where("spread_at", "is", null)
    .orderBy("id")
    .limit(limit)
    .execute();
  if (fresh.length === 0) return 0;
  const at = now.toISOString();
  const ids = idList(
    dialect,
    fresh.map(({ id }) => id),
  );
  const given =
    dialect === "postgres"
      ? sql`unnest(${channels}::text[]) WITH ORDINALITY AS given (value, key)`
      : sql`json_each(${JSON.stringify(channels)}) AS given`;
  // SQLite takes ON CONFLICT after a SELECT only where it cannot be read as the condition of a join.
  await sql`INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, next_attempt_at, scheduled_at)
    SELECT fresh.id, given.value, 'waiting', 0, ${at}, ${at} FROM ${ids} AS fresh CROSS JOIN ${given} WHERE true
    ORDER BY fresh.id, given.key
    ON CONFLICT (notification_id, channel) DO NOTHING`.execute(write);
  await markFannedOut(ids, at, write);
  return fresh.length;
}

export function deliverDirectly(
  { transact, dialect }: Database,
  channel: string,
  now: Date,
  limit: number,
  take: (notifications: readonly StoredNotification[]) => void,
): Promise<number> {
  const at = now.toISOString();
  const locked = dialect === "postgres" ? sql`FOR UPDATE SKIP LOCKED` : sql``;
  return transact(async (query) => {
    const { rows: fresh } = await sql<Selectable<NotificationRow>>`SELECT * FROM oncehook_notifications
      WHERE spread_at IS NULL ORDER BY id LIMIT ${limit} ${locked}`.execute(query);
    if (fresh.length === 0) return 0;
    take(fresh.map(toNotification));
    const ids = idList(
      dialect,
      fresh.map(({ id }) => id),
    );
    await sql`INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, delivered_at)
      SELECT fresh.id, ${channel}, 'delivered', 1, ${at} FROM ${ids} AS fresh WHERE true
      ON CONFLICT (notification_id, channel) DO NOTHING`.execute(query);
    await markFannedOut(ids, at, query);
    return fresh.length;
  });
}

async function markFannedOut(ids: RawBuilder<unknown>, at: string, query: Database["write"]): Promise<void> {
  await sql`UPDATE oncehook_notifications SET spread_at = ${at} WHERE id IN ${ids}`.execute(query);
}

const DELIVERIES = "oncehook_deliveries";

/** Dead deliveries of channels that are no longer configured stay dead: they would wait forever. */
export async function redeliverDead(
  { write, read }: Database,
  notificationId: number,
  channels: readonly string[],
  now: Date,
): Promise<RedeliveryResult> {
  const revived = await write
    .updateTable(DELIVERIES)
    .set({
      state: "waiting",
      attempts: 0,
      next_attempt_at: now.toISOString(),
      scheduled_at: now.toISOString(),
    })
    .where("notification_id", "=", notificationId)
    .where("state", "=", "dead")
    .where("channel", "in", channels)
    .returning("id")
    .execute();
  const left = await read
    .selectFrom(DELIVERIES)
    .select("channel")
    .where("notification_id", "=", notificationId)
    .where("state", "=", "dead")
    .where("channel", "not in", channels)
    .orderBy("channel")
    .execute();
  return { deliveries: revived.length, notConfigured: left.map(({ channel }) => channel) };
}

/** What is delivered stays and is seen; what is being tried stays, since the other side may take it yet. */
export async function discardDeliveries(
  { write, read }: Database,
  notificationId: number,
  channel: string | undefined,
  now: Date,
): Promise<number | "leased"> {
  let doomed = write
    .deleteFrom(DELIVERIES)
    .where("notification_id", "=", notificationId)
    .where("state", "in", ["waiting", "dead"])
    .where(isUnleased(now));
  if (channel !== undefined) doomed = doomed.where("channel", "=", channel);
  const gone = Number((await doomed.executeTakeFirst()).numDeletedRows);
  if (gone > 0) return gone;
  let kept = read
    .selectFrom(DELIVERIES)
    .select("id")
    .where("notification_id", "=", notificationId)
    .where("state", "=", "waiting");
  if (channel !== undefined) kept = kept.where("channel", "=", channel);
  return (await kept.executeTakeFirst()) === undefined ? 0 : "leased";
}
