import { type Kysely, sql } from "kysely";
import { MigrationError } from "../store-errors.ts";
import type { Tables } from "../tables.ts";
import type { Dialect, Transaction } from "../transaction.ts";
import { checkStamp, type Stamp } from "./check-stamp.ts";
import { applyHandlerMigrations, type HandlerMigrationsTable } from "./handler-migrations.ts";
import { init } from "./initial-schema.ts";
import type { HandlerMigration, MigrationReport } from "./migration.ts";
import {
  access,
  alerts,
  attempts,
  COLUMN_TYPES,
  capturedRequests,
  diagnosis,
  handlerMigrations,
  lateCallbacks,
  plainAlerts,
  refusedBytes,
  rollups,
  type SchemaStep,
  spentStates,
  uncleanEnds,
} from "./schema-steps.ts";

const STEPS: readonly SchemaStep[] = [
  init,
  capturedRequests,
  alerts,
  access,
  rollups,
  attempts,
  diagnosis,
  lateCallbacks,
  refusedBytes,
  spentStates,
  uncleanEnds,
  handlerMigrations,
  plainAlerts,
];
export const NEWEST_SCHEMA = Math.max(...STEPS.map((step) => step.number));

/**
 * Brings the schema up to date inside the caller's transaction, which must already hold the migration lock.
 * @throws MigrationError when the database is of a newer version, of another environment or of another key; nothing
 *   is changed
 */
export async function applyMigrations(
  tx: Transaction,
  own: readonly HandlerMigration[],
  stamp: Stamp,
  now: Date,
): Promise<MigrationReport & { previousBaseUrl: string | undefined }> {
  const query = tx.query as Kysely<BookkeepingTables>;
  await createBookkeepingTables(query, tx.dialect);
  const previousBaseUrl = await checkStamp(tx.query as Kysely<Tables>, stamp);
  const applied = [
    ...(await applySteps(query, tx.dialect, now)),
    ...(await applyHandlerMigrations(query, tx, own, now)),
  ];
  return { applied, previousBaseUrl };
}

interface BookkeepingTables extends HandlerMigrationsTable {
  oncehook_schema: { number: number; name: string; applied_at: string };
}

async function createBookkeepingTables(query: Kysely<BookkeepingTables>, dialect: Dialect): Promise<void> {
  const { time } = COLUMN_TYPES[dialect];
  for (const statement of [
    `CREATE TABLE IF NOT EXISTS oncehook_schema (number integer PRIMARY KEY, name text NOT NULL, applied_at ${time} NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS oncehook_own_migrations (name text PRIMARY KEY, applied_at ${time} NOT NULL)`,
    "CREATE TABLE IF NOT EXISTS oncehook_settings (name text PRIMARY KEY, value text NOT NULL)",
  ]) {
    await sql.raw(statement).execute(query);
  }
}

async function applySteps(query: Kysely<BookkeepingTables>, dialect: Dialect, now: Date): Promise<string[]> {
  const rows = await query.selectFrom("oncehook_schema").select("number").execute();
  const done = new Set(rows.map((row) => row.number));
  const newest = Math.max(0, ...done);
  if (newest > NEWEST_SCHEMA) {
    throw new MigrationError(
      `DATABASE_URL: the database has schema ${newest}, this version of Oncehook knows ${NEWEST_SCHEMA}. ` +
        "Start the newer version again; going back would lose what it wrote.",
    );
  }
  const applied: string[] = [];
  for (const step of STEPS.filter((candidate) => !done.has(candidate.number))) {
    for (const statement of step.statements(COLUMN_TYPES[dialect])) await sql.raw(statement).execute(query);
    const row = { number: step.number, name: step.name, applied_at: now.toISOString() };
    await query.insertInto("oncehook_schema").values(row).execute();
    applied.push(`${String(step.number).padStart(4, "0")}-${step.name}`);
  }
  return applied;
}
