import { type Kysely, sql } from "kysely";
import type { Tables } from "../tables.ts";
import type { Dialect, Transaction } from "../transaction.ts";
import { init } from "./0001-init.ts";
import { heard } from "./0002-heard.ts";
import { alerts } from "./0003-alerts.ts";
import { access } from "./0004-access.ts";
import { rollups } from "./0005-rollups.ts";
import { attempts } from "./0006-attempts.ts";
import { diagnosis } from "./0007-diagnosis.ts";
import { lateCallbacks } from "./0008-late-callbacks.ts";
import { refusedBytes } from "./0009-refused-bytes.ts";
import { spentStates } from "./0010-spent-states.ts";
import { uncleanEnds } from "./0011-unclean-ends.ts";
import { migrationsOfHandlers } from "./0013-migrations-of-handlers.ts";
import { applyOwn, type OwnMigrationsTable } from "./apply-own.ts";
import { checkStamp, type Stamp } from "./check-stamp.ts";
import type { MigrationReport, OwnedMigration } from "./migration.ts";
import { MigrationRefused } from "./migration-refused.ts";
import { COLUMN_TYPES, type SchemaStep } from "./schema-step.ts";

const STEPS: readonly SchemaStep[] = [
  init,
  heard,
  alerts,
  access,
  rollups,
  attempts,
  diagnosis,
  lateCallbacks,
  refusedBytes,
  spentStates,
  uncleanEnds,
  migrationsOfHandlers,
];
export const NEWEST_SCHEMA = Math.max(...STEPS.map((step) => step.number));

/**
 * Brings the schema up to date inside the caller's transaction, which must already hold the migration lock.
 * @throws MigrationRefused when the database is of a newer version, of another environment or of another key; nothing
 *   is changed
 */
export async function applyMigrations(
  tx: Transaction,
  own: readonly OwnedMigration[],
  stamp: Stamp,
  now: Date,
): Promise<MigrationReport & { previousBaseUrl: string | undefined }> {
  const query = tx.query as Kysely<BookTables>;
  await createBooks(query, tx.dialect);
  const previousBaseUrl = await checkStamp(tx.query as Kysely<Tables>, stamp);
  const applied = [...(await applySteps(query, tx.dialect, now)), ...(await applyOwn(query, tx, own, now))];
  return { applied, previousBaseUrl };
}

interface BookTables extends OwnMigrationsTable {
  oncehook_schema: { number: number; name: string; applied_at: string };
}

async function createBooks(query: Kysely<BookTables>, dialect: Dialect): Promise<void> {
  const { time } = COLUMN_TYPES[dialect];
  for (const statement of [
    `CREATE TABLE IF NOT EXISTS oncehook_schema (number integer PRIMARY KEY, name text NOT NULL, applied_at ${time} NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS oncehook_own_migrations (name text PRIMARY KEY, applied_at ${time} NOT NULL)`,
    "CREATE TABLE IF NOT EXISTS oncehook_settings (name text PRIMARY KEY, value text NOT NULL)",
  ]) {
    await sql.raw(statement).execute(query);
  }
}

async function applySteps(query: Kysely<BookTables>, dialect: Dialect, now: Date): Promise<string[]> {
  const rows = await query.selectFrom("oncehook_schema").select("number").execute();
  const done = new Set(rows.map((row) => row.number));
  const newest = Math.max(0, ...done);
  if (newest > NEWEST_SCHEMA) {
    throw new MigrationRefused(
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
