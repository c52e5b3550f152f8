import { type Kysely, sql } from "kysely";
import { Area, type Database, insert, run } from "./database.ts";
import type { Tables } from "./tables.ts";

const LONGEST_RUN = "longest_run_ms";

/** What a database knows of the service that uses it, by name. */
export class Settings extends Area {
  /** Notes the base address that this database is used with, once the service listens. */
  async noteBaseUrl(url: string): Promise<void> {
    await writeSetting(this.database.write, "base_url", url);
  }

  /** Notes how long a run may take, in milliseconds, before the first one. It only grows: older rows must still be found. */
  async noteLongestRun(ms: number): Promise<void> {
    await this.write`${insert("oncehook_settings", { name: LONGEST_RUN, value: String(ms) })}
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      WHERE CAST(excluded.value AS bigint) > CAST(oncehook_settings.value AS bigint)`;
  }
}

/** How many milliseconds after its start a run may write rows that carry the time of its start. */
export async function longestRunMs({ read }: Database): Promise<number> {
  const { rows } = await run<{ value: string }>(
    read,
    sql`SELECT value FROM oncehook_settings WHERE name = ${LONGEST_RUN}`,
  );
  return Number(rows[0]?.value ?? 0);
}

/** Stores a setting in the place of an earlier value. */
export async function writeSetting(query: Kysely<Tables>, name: string, value: string): Promise<void> {
  const setting = insert("oncehook_settings", { name, value });
  await run(query, sql`${setting} ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}
