import { sql } from "kysely";
import type { CallbackLogRow } from "../../domain/index.ts";
import type { LoggedCallback, Page, StoredRecord } from "../store.ts";
import type { Access } from "./access.ts";
import { CALLBACK_COLUMNS, callbackValues, toLoggedCallback, toRecord } from "./rows.ts";

/** All rows in one statement, so that they are stored together or not at all. */
export async function appendCallbacks({ write }: Access, rows: readonly CallbackLogRow[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = sql.join(CALLBACK_COLUMNS.map((column) => sql.ref(column)));
  const tuples = sql.join(rows.map((row) => sql`(${sql.join(callbackValues(row))})`));
  await sql`INSERT INTO oncehook_callbacks (${columns}) VALUES ${tuples}`.execute(write);
}

export async function listCallbacks(
  { read }: Access,
  page: Page,
  filter: { eventId?: string },
): Promise<LoggedCallback[]> {
  let query = read.selectFrom("oncehook_callbacks").selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (filter.eventId !== undefined) query = query.where("event_id", "=", filter.eventId);
  return (await query.execute()).map(toLoggedCallback);
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
