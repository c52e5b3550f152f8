import type { Page, StoredRecord } from "../store.ts";
import type { Access } from "./access.ts";
import { toRecord } from "./rows.ts";

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
