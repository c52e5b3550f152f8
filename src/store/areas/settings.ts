import { sql } from "kysely";
import { Area, type Database, insert, type Query, run } from "../database.ts";

const LONGEST_RUN = "longest_run_ms";

/** The setting that holds the progress of a copy; a receiver refuses to start where it is present. */
export const UNFINISHED_COPY = "unfinished_copy";

const SLOW_HANDLER = "slow_handler ";

/** The slowest run of a handler that held SQLite's only writer. */
export interface SlowHandler {
  /** Source and type, such as `stripe invoice.paid`. */
  readonly name: string;
  readonly durationMs: number;
  /** ISO 8601. */
  readonly at: string;
}

/** The setting that each erasure changes: what was read before is not used after it. */
const ERASURES = "value_index_erasures";

/** Another erasure has ended since these payloads were read. */
export class ErasedMeanwhile extends Error {}

/** The number of erasures: while it is the same as before a read, nothing of that was erased. */
export async function erasuresOf(database: Database): Promise<string> {
  const stored = await readSetting(database.read, ERASURES);
  if (stored !== undefined) return stored;
  const first = sql`${insert("oncehook_settings", { name: ERASURES, value: "0" })} ON CONFLICT (name) DO NOTHING`;
  await run(database.write, first);
  return "0";
}

/** Keeps erasures waiting until its transaction is over. */
export async function isLatestErasure(query: Query, { dialect }: Pick<Database, "dialect">, erasures: string) {
  const lock = dialect === "postgres" ? sql`FOR UPDATE` : sql``;
  const current = sql`SELECT value FROM oncehook_settings WHERE name = ${ERASURES} ${lock}`;
  return (await run<{ value: string }>(query, current)).rows[0]?.value === erasures;
}

export async function noteErasure(query: Query): Promise<void> {
  const next = sql`UPDATE oncehook_settings SET value = CAST(CAST(value AS bigint) + 1 AS text) WHERE name = ${ERASURES}`;
  await run(query, next);
}

/** The facts that a database keeps about the service that uses it, by name. */
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
    return slowHandlersOf(await readSettings(this.database.read));
  }

  /** Notes how long a run may take, in milliseconds, before the first one. It only grows: older rows must still be found. */
  async noteLongestRun(ms: number): Promise<void> {
    await this.write`${insert("oncehook_settings", { name: LONGEST_RUN, value: String(ms) })}
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      WHERE CAST(excluded.value AS bigint) > CAST(oncehook_settings.value AS bigint)`;
  }
}

export function slowHandlersOf(settings: ReadonlyMap<string, string>): SlowHandler[] {
  return [...settings]
    .filter(([name]) => name.startsWith(SLOW_HANDLER))
    .map(([name, value]) => ({ name: name.slice(SLOW_HANDLER.length), ...JSON.parse(value) }));
}

/** How many milliseconds after its start a run may write rows that carry the time of its start. */
export async function longestRunMs(database: Database): Promise<number> {
  return Number((await readSetting(database.read, LONGEST_RUN)) ?? 0);
}

export async function readSettings(query: Query): Promise<ReadonlyMap<string, string>> {
  const all = sql`SELECT name, value FROM oncehook_settings`;
  const { rows } = await run<{ name: string; value: string }>(query, all);
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export async function readSetting(query: Query, name: string): Promise<string | undefined> {
  const setting = sql`SELECT value FROM oncehook_settings WHERE name = ${name}`;
  return (await run<{ value: string }>(query, setting)).rows[0]?.value;
}

export async function writeSetting(query: Query, name: string, value: string): Promise<void> {
  const setting = insert("oncehook_settings", { name, value });
  await run(query, sql`${setting} ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}
