import { type Selectable, sql } from "kysely";
import type { EventKey } from "../../domain/index.ts";
import type { HandledEvent, ListedNotification } from "../outbox-store.ts";
import type { LoggedCallback, Stretch } from "../store.ts";
import type { CallbackRow, NotificationRow, StoredInteger } from "../tables.ts";
import type { Access } from "./access.ts";
import { longestRunMs } from "./longest-run.ts";
import { withDeliveries } from "./outbox-views.ts";
import { toLoggedCallback } from "./rows.ts";

/** What the index by event holds, and the one row that the event's record names (see `idsOfEvent` in callback-walks.ts). */
export async function callbacksOfEvent(
  { read }: Access,
  { source, eventId }: EventKey,
  { after, limit }: Stretch,
): Promise<LoggedCallback[]> {
  const others = await sql<Selectable<CallbackRow>>`SELECT * FROM oncehook_callbacks
    WHERE event_id = ${eventId} AND with_record = 0 AND source = ${source} AND id > ${after}
    ORDER BY id LIMIT ${limit}`.execute(read);
  const recorded = await sql<Selectable<CallbackRow>>`SELECT * FROM oncehook_callbacks
    WHERE event_id = ${eventId} AND with_record = 1 AND source = ${source} AND id > ${after} AND id IN
      (SELECT callback_id FROM oncehook_records WHERE event_id = ${eventId} AND source = ${source})`.execute(
    read,
  );
  return [...others.rows, ...recorded.rows]
    .map(toLoggedCallback)
    .sort((one, other) => one.id - other.id)
    .slice(0, limit);
}

/**
 * Ids are given in the order of time but for this and the longest run: a handler may ask long before its transaction writes the
 * row. On SQLite one runs after the other, so that the longest run comes between no others.
 */
const EARLIER_MS = 15_000;
const LATER_MS = 5_000;
/** Beyond it the clock was set, and the look is given up rather than the time of others. */
const MOST_LOOKED_AT = { sqlite: 50_000, postgres: 1_000_000 } as const;

/**
 * The notifications of a handled event, oldest first. No index has them by event, since every notification would pay for it:
 * they were written while their record was, and the ids of that time are a stretch.
 */
export async function notificationsOfEvent(
  access: Access,
  { source, eventId, createdAt, processedAt }: HandledEvent,
  limit: number,
): Promise<ListedNotification[]> {
  const { dialect, read } = access;
  const earlierMs = EARLIER_MS + (dialect === "postgres" ? await longestRunMs(access) : 0);
  const from = await firstSince(read, new Date(Date.parse(createdAt) - earlierMs));
  const to = await firstSince(read, new Date(Date.parse(processedAt ?? createdAt) + LATER_MS));
  const { rows } = await sql<Selectable<NotificationRow>>`SELECT * FROM oncehook_notifications
    WHERE id >= ${from} AND id < ${Math.min(to, from + MOST_LOOKED_AT[dialect])}
      AND event_id = ${eventId} AND source = ${source}
    ORDER BY id LIMIT ${limit}`.execute(read);
  return withDeliveries(access, rows);
}

/** The lowest id from which on notifications are of this time or a later one, by bisection. */
async function firstSince(read: Access["read"], time: Date): Promise<number> {
  const { rows: ends } = await sql<{ low: StoredInteger | null; high: StoredInteger | null }>`SELECT
    (SELECT id FROM oncehook_notifications WHERE id > 0 ORDER BY id LIMIT 1) AS low,
    (SELECT id FROM oncehook_notifications WHERE id > 0 ORDER BY id DESC LIMIT 1) AS high`.execute(read);
  let low = Number(ends[0]?.low ?? 0);
  let high = Number(ends[0]?.high ?? -1) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { rows } = await sql<{ id: StoredInteger; is_earlier: number | boolean }>`
      SELECT id, created_at < ${time.toISOString()} AS is_earlier FROM oncehook_notifications
      WHERE id >= ${middle} ORDER BY id LIMIT 1`.execute(read);
    const [row] = rows;
    if (row?.is_earlier) low = Number(row.id) + 1;
    else high = middle;
  }
  return low;
}
