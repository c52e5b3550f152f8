import type { Kysely } from "kysely";
import type { Transaction } from "../transaction.ts";
import { CONFIGURATION, type OwnedMigration } from "./migration.ts";
import { MigrationRefused } from "./migration-refused.ts";

/** The handler of what was applied before handlers were noted. */
const UNKNOWN = "";

/** Which migrations of the handlers, and of the configuration file, a database has. */
export interface OwnMigrationsTable {
  oncehook_own_migrations: { handler: string; name: string; applied_at: string };
}

/**
 * Applies what the database does not have, each once for its handlers and its name.
 * @returns the names of what was applied now
 * @throws MigrationRefused when one fails, or when it is not clear whose migration the database has
 */
export async function applyOwn(
  query: Kysely<OwnMigrationsTable>,
  tx: Transaction,
  own: readonly OwnedMigration[],
  now: Date,
): Promise<string[]> {
  const rows = await query.selectFrom("oncehook_own_migrations").select(["handler", "name"]).execute();
  const done = new Set(rows.map(({ handler, name }) => keyOf(handler, name)));
  const isNoted = (migration: OwnedMigration) =>
    handlersOf(migration).some((handler) => done.has(keyOf(handler, migration.name)));
  const unclaimed = rows.filter(({ handler }) => handler === UNKNOWN).map(({ name }) => name);
  assertUnambiguous(own.filter((migration) => unclaimed.includes(migration.name) && !isNoted(migration)));
  const applied: string[] = [];
  for (const migration of own) {
    const { name } = migration;
    const isClaimed = !isNoted(migration) && unclaimed.includes(name);
    if (!isNoted(migration) && !isClaimed) {
      await apply(migration, tx);
      applied.push(name);
    }
    const missing = handlersOf(migration).filter((handler) => !done.has(keyOf(handler, name)));
    if (missing.length === 0) continue;
    const applied_at = now.toISOString();
    const fresh = missing.map((handler) => ({ handler, name, applied_at }));
    await query.insertInto("oncehook_own_migrations").values(fresh).execute();
    if (!isClaimed) continue;
    const taken = query.deleteFrom("oncehook_own_migrations").where("handler", "=", UNKNOWN);
    await taken.where("name", "=", name).execute();
  }
  return applied;
}

/** @param candidates may each be what the database has under its name */
function assertUnambiguous(candidates: readonly OwnedMigration[]): void {
  for (const [index, migration] of candidates.entries()) {
    const other = candidates.slice(index + 1).find(({ name }) => name === migration.name);
    if (other === undefined) continue;
    throw new MigrationRefused(
      `two migrations are named "${migration.name}": one of ${ownersOf(migration)}, one of ${ownersOf(other)}. An earlier ` +
        "version of Oncehook applied one of them in this database and dropped the other. Look which tables are there, give " +
        "the migration whose tables are missing another name, and start again; where both mean the same tables, list one " +
        "migration object in both.",
    );
  }
}

async function apply(migration: OwnedMigration, tx: Transaction): Promise<void> {
  try {
    await migration.up(tx);
  } catch (cause) {
    throw new MigrationRefused(
      `migration "${migration.name}" failed, nothing was changed: ${String(cause)}`,
      { cause },
    );
  }
}

function handlersOf({ handlers }: OwnedMigration): readonly string[] {
  return handlers ?? [CONFIGURATION];
}

/** For errors. */
export function ownersOf(migration: OwnedMigration): string {
  return handlersOf(migration)
    .map((handler) => (handler === CONFIGURATION ? "the configuration file" : `the handler of "${handler}"`))
    .join(" and ");
}

/** A handler's name holds no space. */
function keyOf(handler: string, name: string): string {
  return `${handler} ${name}`;
}
