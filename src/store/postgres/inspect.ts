import pg from "pg";
import {
  COUNT_WAITING,
  DIAGNOSES_SINCE,
  type Inspection,
  type Look,
  SELECT_DIAGNOSES,
  SELECT_OWN_MIGRATIONS,
  SELECT_USES,
  toDiagnosis,
  toSeenCredential,
  toWaitingByChannel,
} from "../inspection.ts";
import { durabilityWarnings } from "./durability.ts";
import { searchFirst, withConnection } from "./first-connection.ts";

const PATIENCE_MS = 5_000;

/** Looks at a database without changing it. @throws the driver's error when the server does not answer */
export function inspectPostgres(url: string, { schema, tables: asked = [] }: Look = {}): Promise<Inspection> {
  return withConnection(url, { connectMs: PATIENCE_MS, queryMs: PATIENCE_MS }, async (client) => {
    const warnings = await durabilityWarnings(client);
    await searchFirst(client, schema);
    const tables = await tablesThere(client, schema, asked);
    if (!(await hasOwnTables(client, schema))) return { exists: false, tables };
    const { rows: newest } = await client.query("SELECT max(number) AS number FROM oncehook_schema");
    const step = Number(newest[0]?.number ?? 0);
    const { rows: settings } = await client.query("SELECT name, value FROM oncehook_settings");
    const stored = new Map<string, string>(settings.map((row) => [row.name, row.value]));
    const { rows: uses } = await client.query(SELECT_USES);
    const { rows: waiting } = await client.query(COUNT_WAITING);
    const { rows: refused } = step < DIAGNOSES_SINCE ? { rows: [] } : await client.query(SELECT_DIAGNOSES);
    const { rows: own } = await client.query(SELECT_OWN_MIGRATIONS);
    return {
      exists: true,
      tables,
      ownMigrations: own.map((row) => String(row.name)),
      schema: step,
      environment: stored.get("environment"),
      baseUrl: stored.get("base_url"),
      keyId: stored.get("key_id"),
      durabilityWarnings: warnings,
      credentialUses: uses.map(toSeenCredential),
      waitingByChannel: toWaitingByChannel(waiting),
      diagnoses: refused.map(toDiagnosis),
    };
  });
}

/** Tables, views and indexes share their names; a schema that is not there yet has none. */
async function tablesThere(client: pg.Client, schema: string | undefined, names: readonly string[]) {
  const { rows } = await client.query(
    `SELECT relname FROM pg_class WHERE relname = ANY ($1)
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = coalesce($2, current_schema()))`,
    [names, schema ?? null],
  );
  return rows.map((row) => String(row.relname));
}

/** Whether the tables are there: in the schema itself where one is named, and not further along the search path. */
export async function hasOwnTables(client: pg.Client, schema: string | undefined): Promise<boolean> {
  const prefix = schema === undefined ? "" : `${pg.escapeIdentifier(schema)}.`;
  const { rows } = await client.query(
    "SELECT to_regclass($1 || 'oncehook_schema') AS schema, to_regclass($1 || 'oncehook_settings') AS settings",
    [prefix],
  );
  return rows[0]?.schema !== null && rows[0]?.settings !== null;
}
