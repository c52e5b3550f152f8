import { sql } from "kysely";
import type { Swept } from "../store.ts";
import type { Access } from "./access.ts";

const STEP = 1_000;
/** A preparation whose event never came back: an authorization code is long dead by then (RFC 6749 §4.1.2). */
const PREPARATION_DAYS = 7;

/** Deletes in steps of a thousand rows, so that no callback waits long for the writer. */
export async function sweep(
  access: Access,
  olderThan: { callbacks: Date; records?: Date; now: Date },
): Promise<Swept> {
  const { now } = olderThan;
  const preparations = new Date(now.getTime() - PREPARATION_DAYS * 86_400_000);
  const callbacks = await inSteps(
    access,
    "oncehook_callbacks",
    "id",
    "received_at",
    olderThan.callbacks.toISOString(),
  );
  const records =
    olderThan.records === undefined
      ? 0
      : await inSteps(access, "oncehook_records", "id", "created_at", olderThan.records.toISOString());
  const stale =
    (await inSteps(access, "oncehook_preparations", "event_id", "created_at", preparations.toISOString())) +
    (await inSteps(access, "oncehook_redirect_states", "state_sha256", "expires_at", now.toISOString())) +
    (await inSteps(access, "oncehook_rate_counters", "key", "reset_at_ms", now.getTime()));
  return { callbacks, records, stale };
}

async function inSteps(
  { write }: Access,
  table: string,
  id: string,
  column: string,
  before: string | number,
): Promise<number> {
  for (let deleted = 0; ; ) {
    const step = sql`DELETE FROM ${sql.table(table)} WHERE ${sql.ref(column)} < ${before} AND ${sql.ref(id)} IN
      (SELECT ${sql.ref(id)} FROM ${sql.table(table)} WHERE ${sql.ref(column)} < ${before}
       ORDER BY ${sql.ref(column)} LIMIT ${sql.lit(STEP)})`;
    const { numAffectedRows = 0n } = await step.execute(write);
    deleted += Number(numAffectedRows);
    if (numAffectedRows < BigInt(STEP)) return deleted;
  }
}
