import { type RawBuilder, type Selectable, sql } from "kysely";
import type { OutboxStore, StoredNotification } from "../outbox-store.ts";
import type { NotificationRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { idList } from "./id-list.ts";
import { deliveryLeases } from "./lease-deliveries.ts";
import { notificationsOfEvent } from "./of-event.ts";
import { discard, revive } from "./outbox-by-hand.ts";
import { counts, search, waitingByChannel } from "./outbox-views.ts";
import { storableText, toNotification } from "./rows.ts";

const NOTIFICATIONS = "oncehook_notifications";
const DELIVERIES = "oncehook_deliveries";

/** The outbox of `OutboxStore`, in SQL that both databases speak. */
export function outboxQueries(access: Access): OutboxStore {
  return {
    spread: (channels, now, limit) => spread(access, channels, now, limit),
    passOn: (channel, now, limit, take) => passOn(access, channel, now, limit, take),
    ...deliveryLeases(access),
    delivered: (ids, owner, now) => delivered(access, ids, owner, now),
    failed: (...given) => failed(access, ...given),
    release: (id, owner) => release(access, id, owner),
    giveUp: (id, owner, error) => giveUp(access, id, owner, error),
    revive: (id, channels, now) => revive(access, id, channels, now),
    discard: (id, channel, now) => discard(access, id, channel, now),
    search: (filter, request) => search(access, filter, request),
    list: async (page, filter) =>
      (await search(access, filter, { ...page, budgetMs: Number.POSITIVE_INFINITY })).rows,
    ofEvent: (event, limit) => notificationsOfEvent(access, event, limit),
    counts: () => counts(access),
    waitingByChannel: () => waitingByChannel(access),
  };
}

/**
 * The deliveries first, then the mark: a process that dies between the two leaves a notification that is spread
 * again, to the deliveries it has.
 */
async function spread(
  { write, read, dialect }: Access,
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
  await markSpread(ids, at, write);
  return fresh.length;
}

function passOn(
  { transact, dialect }: Access,
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
    await markSpread(ids, at, query);
    return fresh.length;
  });
}

async function markSpread(ids: RawBuilder<unknown>, at: string, query: Access["write"]): Promise<void> {
  await sql`UPDATE oncehook_notifications SET spread_at = ${at} WHERE id IN ${ids}`.execute(query);
}

const NO_LEASE = { lease_owner: null, leased_until: null, lease_alone: 0 } as const;

async function delivered(
  { write, dialect }: Access,
  deliveries: readonly number[],
  owner: string,
  now: Date,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`UPDATE oncehook_deliveries
    SET state = 'delivered', delivered_at = ${now.toISOString()}, next_attempt_at = NULL, error = NULL,
      lease_owner = NULL, leased_until = NULL, lease_alone = 0
    WHERE id IN ${idList(dialect, deliveries)} AND lease_owner = ${owner}`.execute(write);
  return Number(numAffectedRows);
}

async function failed(
  { write }: Access,
  id: number,
  owner: string,
  error: string,
  next: Date | null,
  now: Date | undefined,
): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    .set({
      state: next === null ? "dead" : "waiting",
      error: storableText(error),
      next_attempt_at: next?.toISOString() ?? null,
      scheduled_at: now?.toISOString() ?? null,
      ...NO_LEASE,
    })
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}

async function release({ write }: Access, id: number, owner: string): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    // Due as it was: the lease has put it off for the case that its process ends.
    .set((eb) => ({ attempts: eb("attempts", "-", 1), next_attempt_at: eb.ref("scheduled_at"), ...NO_LEASE }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}

async function giveUp({ write }: Access, id: number, owner: string, error: string): Promise<void> {
  await write
    .updateTable(DELIVERIES)
    .set((eb) => ({
      state: "dead",
      attempts: eb("attempts", "-", 1),
      error: storableText(error),
      next_attempt_at: null,
      ...NO_LEASE,
    }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}
