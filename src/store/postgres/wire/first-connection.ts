import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { errorReason } from "../../../domain/index.ts";
import type { Connection } from "../../connection-settings.ts";
import { backoffDelays } from "../../retry-until.ts";
import { assertDriver, internalsOf } from "./driver.ts";
import { sendBatch } from "./statement.ts";

/** Without any answer (wrong port, firewall) a try, and the start, end. A server that starts, or is full, answers. */
const LIMITS = { tryMs: 2_500, unansweredMs: 2_500, startingMs: 10_000 };
const STARTING = ["57P01", "57P02", "57P03", "53300"];
/** Refused for as long as the address stays as it is: the role, the password, the database, the host's name. */
const PERMANENT_CODES = /^(?:28|3D|42|0A|ENOTFOUND$|ERR_TLS|ERR_SSL|EPROTO$|.*CERT|.*ISSUER)/;
const INSUFFICIENT_PRIVILEGE = "42501";
const DUPLICATE = ["23505", "42P06"];

/** @throws the driver's own error: at once where it would come again, after 2.5 s without an answer */
export async function firstConnection(
  connection: Connection,
  schema: string | undefined,
  { tryMs, unansweredMs, startingMs } = LIMITS,
) {
  const startedAt = performance.now();
  for (const pause of backoffDelays()) {
    try {
      const limits = { connectMs: tryMs, queryMs: tryMs };
      return await withConnection(connection, limits, (client) => readServerSettings(client, schema));
    } catch (error) {
      const code = codeOf(error);
      const limit = STARTING.includes(code) ? startingMs : unansweredMs;
      if (PERMANENT_CODES.test(code) || code === "" || performance.now() - startedAt + pause > limit) throw error;
      await sleep(pause);
    }
  }
  throw new TypeError("the pauses never end");
}

/** Runs `use` with a connection outside the pools. @throws the driver's error */
export async function withConnection<T>(
  connection: Connection,
  limits: { readonly connectMs: number; readonly queryMs?: number },
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...clientConfig(connection, {}),
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.queryMs,
  });
  assertDriver(client);
  // The error of a lost connection comes with the query that met it.
  client.on("error", () => {});
  try {
    await client.connect().catch(throwWithRemedy);
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** As PgBouncer words it; it names the option, or the setting in `options`. */
const REFUSED_PARAMETER = /unsupported (?:options )?startup parameter\b.*/;

function throwWithRemedy(cause: unknown): never {
  const [refusal] = REFUSED_PARAMETER.exec(cause instanceof Error ? cause.message : "") ?? [];
  if (refusal === undefined) throw cause;
  throw new Error(
    `DATABASE_URL: the pooler refuses what the address or PGOPTIONS sets (${refusal}): remove it there, or have the ` +
      "pooler drop it: `ignore_startup_parameters = options` in pgbouncer.ini, with each setting that it names",
    { cause },
  );
}

/**
 * Begins a transaction that reads, until the connection ends. The schema comes first, then what the server looks through:
 * a user's own tables are still found. Behind a pooler a setting of the session would reach other clients.
 */
export async function beginReading(client: pg.Client, schema: string | undefined): Promise<void> {
  await client.query("BEGIN READ ONLY");
  if (schema === undefined) return;
  const path = `${pg.escapeIdentifier(schema)}, `;
  await client.query("SELECT set_config('search_path', $1 || current_setting('search_path'), true)", [path]);
}

/** A pooler may drop what a session begins with: then the tables would be made, and looked for, elsewhere. */
export async function assertSearchPath(client: pg.ClientBase, schema: string | undefined): Promise<void> {
  if (schema === undefined) return;
  const [answer] = await sendBatch(client, [{ text: "SELECT current_schema()" }]);
  if (answer?.rows[0]?.[0] === schema) return;
  throw new Error(
    `DATABASE_SCHEMA: the sessions do not begin in the schema "${schema}": a pooler between has dropped the startup ` +
      "option search_path. Connect to the server itself, or have the pooler pass `options` on",
  );
}

/** The settings that all later connections begin with, and warnings for the operator. */
async function readServerSettings(client: pg.Client, schema: string | undefined) {
  const warnings = await durabilityWarnings(client);
  if (schema !== undefined) await createSchema(client, schema);
  await beginReading(client, schema);
  const { rows } = await client.query(
    `SELECT current_setting('search_path') AS path, current_schema() AS first,
      current_setting('synchronous_commit') AS synchronous_commit, pg_backend_pid() AS pid`,
  );
  const { path, first, synchronous_commit, pid } = rows[0];
  if (first === null) {
    throw new Error(
      `none of the schemas in its search_path (${path}) is there and open to this role; set DATABASE_SCHEMA, or grant it one`,
    );
  }
  return {
    durabilityWarnings: warnings,
    // A pooler gives its clients a key of its making, for their requests to cancel.
    isPooled: internalsOf(client).processID !== pid,
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
    if (codeOf(error) === INSUFFICIENT_PRIVILEGE) throw withoutRight(schema, error);
    // Another process that starts at the same time has made it.
    if (!DUPLICATE.includes(codeOf(error))) throw error;
  }
}

function withoutRight(schema: string, cause: unknown): Error {
  const what = `DATABASE_SCHEMA: the schema "${schema}" does not exist, and this role may not create it (${errorReason(cause)})`;
  return new Error(`${what}; run \`oncehook migrate\` with a DATABASE_URL of a role with CREATE on the database`, {
    cause,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Settings of PostgreSQL by their names, for a whole session. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * The driver's configuration for a connection. Settings go with the start of the session: RESET ALL and DISCARD ALL come back to
 * them. Those in the address, or in PGOPTIONS, stay, and come second.
 */
export function clientConfig(connection: Connection, settings: SessionSettings): pg.ClientConfig {
  const parts = typeof connection === "string" ? { connectionString: connection } : connection.settings;
  const { connectionString, options: optionsOfPool, ...others } = parts as pg.ClientConfig;
  const address = URL.parse(connectionString ?? "");
  const given = address?.searchParams.get("options") ?? optionsOfPool ?? process.env.PGOPTIONS ?? "";
  const own = Object.entries(settings).map(([name, value]) => `-c ${name}=${escaped(value)}`);
  const options = [given, ...own].filter((text) => text !== "").join(" ");
  // The driver would prefer the address's options to these, and look for a file that is called system.
  if (address?.searchParams.has("options")) address.searchParams.delete("options");
  if (address?.searchParams.get("sslrootcert") === "system") address.searchParams.delete("sslrootcert");
  const named = connectionString === undefined ? {} : { connectionString: address?.href ?? connectionString };
  return { ...others, ...named, ...(options === "" ? {} : { options }) };
}

/** Spaces end an option, and a backslash takes the next character as it is (manual, 54.7, StartupMessage). */
function escaped(value: string): string {
  return value.replaceAll(/[\\\s]/g, (found) => `\\${found}`);
}

const MUST_BE_ON = ["fsync", "full_page_writes", "synchronous_commit"] as const;
const OLDEST = 140_000;

/** Settings under which a crash may lose an acknowledged commit. @throws Error for a server that is not supported */
export async function durabilityWarnings(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT name, setting FROM pg_settings
       WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'server_version_num', 'server_encoding')
     UNION ALL SELECT 'standby', pg_is_in_recovery()::text`,
  );
  const settings = new Map<string, string>(rows.map((row) => [row.name, row.setting]));
  if (Number(settings.get("server_version_num")) < OLDEST) {
    throw new Error("DATABASE_URL: the server is older than PostgreSQL 14; use PostgreSQL 14 or newer");
  }
  if (settings.get("server_encoding") !== "UTF8") {
    throw new Error(
      `DATABASE_URL: the database's encoding is ${settings.get("server_encoding")}; create it with ENCODING 'UTF8'`,
    );
  }
  const warnings = MUST_BE_ON.filter((name) => ["off", "local"].includes(settings.get(name) ?? "")).map(
    (name) =>
      `PostgreSQL runs with ${name}=${settings.get(name)}: an acknowledged event may be lost in a crash; set it on`,
  );
  if (settings.get("standby") === "true")
    warnings.push("PostgreSQL at DATABASE_URL is a standby: use the primary's address");
  return warnings;
}
