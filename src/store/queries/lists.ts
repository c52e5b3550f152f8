import { type Selectable, sql } from "kysely";
import type { LoggedCallback, Page, StoredRecord } from "../store.ts";
import type { CallbackRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { toLoggedCallback, toRecord } from "./rows.ts";

export async function listCallbacks(
  { read }: Access,
  page: Page,
  filter: { eventId?: string },
): Promise<LoggedCallback[]> {
  if (filter.eventId !== undefined) return callbacksOf(read, page, filter.eventId);
  let query = read.selectFrom("oncehook_callbacks").selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  return (await query.execute()).map(toLoggedCallback);
}

/**
 * The rows that the index by event holds, and the one that the event's record names: that may be gone, and on SQLite another
 * event's row may have got its id.
 */
async function callbacksOf(
  read: Access["read"],
  { before = Number.MAX_SAFE_INTEGER, limit }: Page,
  eventId: string,
): Promise<LoggedCallback[]> {
  const { rows } = await sql<Selectable<CallbackRow>>`SELECT * FROM (
      SELECT * FROM oncehook_callbacks WHERE event_id = ${eventId} AND with_record = 0
      UNION ALL
      SELECT * FROM oncehook_callbacks WHERE event_id = ${eventId} AND with_record = 1 AND id IN
        (SELECT callback_id FROM oncehook_records WHERE event_id = ${eventId})
    ) AS of_event WHERE id < ${before} ORDER BY id DESC LIMIT ${limit}`.execute(read);
  return rows.map(toLoggedCallback);
}

export async function listRecords(
  { read }: Access,
  page: Page,
  filter: { eventId?: string },
): Promise<StoredRecord[]> {
  let query = read.selectFrom("oncehook_records").selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (filter.eventId !== undefined) query = query.where("event_id", "=", filter.eventId);
  return (await query.execute()).map(toRecord);
}
