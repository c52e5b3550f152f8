import pg from "pg";
import type { Connection } from "../connection-settings.ts";
import {
  checkInvariants,
  type Inspection,
  type InspectOptions,
  type IntegrityReport,
  inspectTables,
  readingDatabase,
} from "../inspection.ts";
import { qualifiedNames } from "../qualified-names.ts";
import { MaintenanceError } from "../store-errors.ts";
import { beginReading, durabilityWarnings, withConnection } from "./wire/first-connection.ts";
import { shareQualifiedNames } from "./wire/names-of-connection.ts";
import { executeOwn } from "./wire/statement.ts";

const ANSWER_TIMEOUT_MS = 5_000;

/** Looks at a database without changing it. @throws the driver's error when the server does not answer */
export function inspectPostgres(connection: Connection, options: InspectOptions = {}): Promise<Inspection> {
  const { schema, tables: asked = [] } = options;
  return withConnection(connection, { connectMs: ANSWER_TIMEOUT_MS, queryMs: ANSWER_TIMEOUT_MS }, async (client) => {
    const warnings = await durabilityWarnings(client);
    await beginReading(client, schema);
    const tables = await existingTables(client, schema, asked);
    if (!(await hasServiceTables(client, schema))) return { exists: false, tables };
    const found = await inspectTables(readOn(client, schema), options);
    return { exists: true, tables, durabilityWarnings: warnings, ...found };
  });
}

/** Tables, views and indexes share their names; a schema that is not there yet has none. */
async function existingTables(client: pg.Client, schema: string | undefined, names: readonly string[]) {
  const { rows } = await client.query(
    `SELECT relname FROM pg_class WHERE relname = ANY ($1)
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = coalesce($2, current_schema()))`,
    [names, schema ?? null],
  );
  return rows.map((row) => String(row.relname));
}

/** Whether the tables are there: in the schema itself where one is named, and not further along the search path. */
async function hasServiceTables(client: pg.Client, schema: string | undefined): Promise<boolean> {
  const prefix = schema === undefined ? "" : `${pg.escapeIdentifier(schema)}.`;
  const { rows } = await client.query(
    "SELECT to_regclass($1 || 'oncehook_schema') AS schema, to_regclass($1 || 'oncehook_settings') AS settings",
    [prefix],
  );
  return rows[0]?.schema !== null && rows[0]?.settings !== null;
}

/** While it may be in use. @throws MaintenanceError without Oncehook's tables; the driver's error without an answer */
export function checkPostgres(connection: Connection, schema?: string): Promise<IntegrityReport> {
  return withConnection(connection, { connectMs: ANSWER_TIMEOUT_MS }, async (client) => {
    await beginReading(client, schema);
    if (!(await hasServiceTables(client, schema)))
      throw new MaintenanceError(`${client.database} holds none of Oncehook's tables`);
    return checkInvariants(readOn(client, schema));
  });
}

/** Without names: a pooler between may know them by another client. */
function readOn(client: pg.Client, schema: string | undefined) {
  shareQualifiedNames(client, qualifiedNames(schema));
  return readingDatabase("postgres", (query) => executeOwn(client, query, { isCached: false }));
}
