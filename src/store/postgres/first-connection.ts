import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { pauses } from "../patience.ts";
import { connectionTo, type SessionSettings } from "./connection-to.ts";
import { durabilityWarnings } from "./durability.ts";

/** How long a first connection is tried. */
interface Limits {
  /** One try, and each of its statements. */
  readonly tryMs: number;
  /** A server that does not answer at all, or a wrong port: whoever waits at a terminal reads why. */
  readonly unansweredMs: number;
  /** A server that says that it starts, or is full, will answer soon. */
  readonly startingMs: number;
}

const LIMITS: Limits = { tryMs: 2_500, unansweredMs: 2_500, startingMs: 10_000 };
const STARTING = ["57P01", "57P02", "57P03", "53300"];
/** Refused for as long as the address stays as it is: the role or its password, the database, the host's name. */
const FINAL = /^(?:28|3D|42|0A|ENOTFOUND$|ERR_TLS|ERR_SSL|EPROTO$|.*CERT|.*ISSUER)/;
const DUPLICATE = ["23505", "42P06"];

/** What a first connection found out, and what all later ones begin with. */
export interface Server {
  readonly durabilityWarnings: readonly string[];
  readonly settings: SessionSettings;
}

/**
 * Connects once, makes the schema where it is missing, and settles what every session begins with.
 * @throws the driver's own error: at once where it would come again, after 2.5 s without an answer
 */
export async function firstConnection(
  url: string,
  schema: string | undefined,
  { tryMs, unansweredMs, startingMs } = LIMITS,
): Promise<Server> {
  const begun = performance.now();
  for (const pause of pauses()) {
    try {
      return await withConnection(url, { connectMs: tryMs, queryMs: tryMs }, (client) =>
        settle(client, schema),
      );
    } catch (error) {
      const code = codeOf(error);
      const limit = STARTING.includes(code) ? startingMs : unansweredMs;
      if (FINAL.test(code) || code === "" || performance.now() - begun + pause > limit) throw error;
      await sleep(pause);
    }
  }
  throw new TypeError("the pauses never end");
}

/** Lends a connection beside the pools. @throws the driver's error */
export async function withConnection<T>(
  url: string,
  limits: { readonly connectMs: number; readonly queryMs?: number },
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...connectionTo(url, {}),
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.queryMs,
  });
  // The error of a lost connection comes with the query that met it.
  client.on("error", () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** The schema first, then what the server looks through: a user's own tables are still found. */
export async function searchFirst(client: pg.Client, schema: string | undefined): Promise<void> {
  if (schema === undefined) return;
  const path = `${pg.escapeIdentifier(schema)}, `;
  await client.query("SELECT set_config('search_path', $1 || current_setting('search_path'), false)", [path]);
}

async function settle(client: pg.Client, schema: string | undefined): Promise<Server> {
  const warnings = await durabilityWarnings(client);
  if (schema !== undefined) await createSchema(client, schema);
  await searchFirst(client, schema);
  const { rows } = await client.query(
    `SELECT current_setting('search_path') AS path, current_schema() AS first,
      current_setting('synchronous_commit') AS synchronous_commit`,
  );
  const { path, first, synchronous_commit } = rows[0];
  if (first === null) {
    throw new Error(
      `none of the schemas in its search_path (${path}) is there and open to this role; set DATABASE_SCHEMA, or grant it one`,
    );
  }
  return {
    durabilityWarnings: warnings,
    settings: {
      // A temporary table then hides no other one of the same name.
      search_path: `${withoutTemp(path)}, pg_temp`,
      // An ALTER ROLE or ALTER DATABASE that a handler runs is not obeyed until the next start, which refuses it.
      synchronous_commit,
    },
  };
}

function withoutTemp(path: string): string {
  return path.replaceAll(/(?:^|,)\s*"?pg_temp"?\s*(?=,|$)/g, "").replace(/^\s*,\s*/, "");
}

async function createSchema(client: pg.Client, schema: string): Promise<void> {
  const { rowCount } = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema]);
  if (rowCount !== 0) return;
  try {
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${pg.escapeIdentifier(schema)}`);
  } catch (error) {
    // Another process that starts at the same time has made it.
    if (!DUPLICATE.includes(codeOf(error))) throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
