import { sql } from "kysely";
import { Area, type Database, insert, type Query, run, select } from "./database.ts";

const LONGEST_RUN = "longest_run_ms";

const SLOW_HANDLER = "slow_handler ";

/** The slowest run of a handler that held SQLite's only writer. */
export interface SlowHandler {
  /** Source and type, such as `stripe invoice.paid`. */
  readonly name: string;
  readonly durationMs: number;
  /** ISO 8601. */
  readonly at: string;
}

/** What a database knows of the service that uses it, by name. */
export class Settings extends Area {
  /** Notes the base address that this database is used with, once the service listens. */
  async noteBaseUrl(url: string): Promise<void> {
    await writeSetting(this.database.write, "base_url", url);
  }

  /** One row a handler; the types are those of configured handlers, so that their number is bounded. */
  async noteSlowHandler({ name, ...run }: SlowHandler): Promise<void> {
    await writeSetting(this.database.write, SLOW_HANDLER + name, JSON.stringify(run));
  }

  async slowHandlers(): Promise<SlowHandler[]> {
    return slowHandlersOf(await this.read<SettingRow>`SELECT name, value FROM oncehook_settings`);
  }

  /** Notes how long a run may take, in milliseconds, before the first one. It only grows: older rows must still be found. */
  async noteLongestRun(ms: number): Promise<void> {
    await this.write`${insert("oncehook_settings", { name: LONGEST_RUN, value: String(ms) })}
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      WHERE CAST(excluded.value AS bigint) > CAST(oncehook_settings.value AS bigint)`;
  }
}

interface SettingRow {
  readonly name: string;
  readonly value: string;
}

export function slowHandlersOf(settings: readonly SettingRow[]): SlowHandler[] {
  return settings
    .filter(({ name }) => name.startsWith(SLOW_HANDLER))
    .map(({ name, value }) => ({ name: name.slice(SLOW_HANDLER.length), ...JSON.parse(value) }));
}

/** How many milliseconds after its start a run may write rows that carry the time of its start. */
export async function longestRunMs(database: Database): Promise<number> {
  const setting = sql`SELECT value FROM oncehook_settings WHERE name = ${LONGEST_RUN}`;
  const [longest] = await select<{ value: string }>(database, setting);
  return Number(longest?.value ?? 0);
}

/** Stores a setting in the place of an earlier value. */
export async function writeSetting(query: Query, name: string, value: string): Promise<void> {
  const setting = insert("oncehook_settings", { name, value });
  await run(query, sql`${setting} ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}
