import { sql } from "kysely";
import type { Access } from "./access.ts";

const NAME = "longest_run_ms";

/** It only grows: what was written while a run could take longer is still to be found. */
export async function noteLongestRun({ write }: Access, ms: number): Promise<void> {
  await sql`INSERT INTO oncehook_settings (name, value) VALUES (${NAME}, ${String(ms)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    WHERE CAST(excluded.value AS bigint) > CAST(oncehook_settings.value AS bigint)`.execute(write);
}

/** So long after its beginning, in milliseconds, a run may write what bears the time of its beginning. */
export async function longestRunMs({ read }: Access): Promise<number> {
  const row = await read
    .selectFrom("oncehook_settings")
    .select("value")
    .where("name", "=", NAME)
    .executeTakeFirst();
  return Number(row?.value ?? 0);
}
