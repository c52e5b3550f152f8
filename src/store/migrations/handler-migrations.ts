import type { Kysely } from "kysely";
import { MigrationError } from "../store-errors.ts";
import type { Transaction } from "../transaction.ts";
import { CONFIGURATION, type HandlerMigration } from "./migration.ts";

/** The handler of what was applied before handlers were noted. */
const UNKNOWN = "";

/** Which migrations of the handlers, and of the configuration file, a database has. */
export interface HandlerMigrationsTable {
  oncehook_own_migrations: { handler: string; name: string; applied_at: string };
}

/**
 * Applies what the database does not have, each once for its handlers and its name.
 * @returns the names of what was applied now
 * @throws MigrationError when one fails, or when it is not clear whose migration the database has
 */
export async function applyHandlerMigrations(
  query: Kysely<HandlerMigrationsTable>,
  tx: Transaction,
  own: readonly HandlerMigration[],
  now: Date,
): Promise<string[]> {
  const rows = await query.selectFrom("oncehook_own_migrations").select(["handler", "name"]).execute();
  const done = new Set(rows.map(({ handler, name }) => keyOf(handler, name)));
  const isNoted = (migration: HandlerMigration) =>
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
function assertUnambiguous(candidates: readonly HandlerMigration[]): void {
  for (const [index, migration] of candidates.entries()) {
    const other = candidates.slice(index + 1).find(({ name }) => name === migration.name);
    if (other === undefined) continue;
    throw new MigrationError(
      `two migrations are named "${migration.name}": one of ${describeOwners(migration)}, one of ${describeOwners(other)}. An earlier ` +
        "version of Oncehook applied one of them in this database and dropped the other. Look which tables are there, give " +
        "the migration whose tables are missing another name, and start again; where both mean the same tables, list one " +
        "migration object in both.",
    );
  }
}

async function apply(migration: HandlerMigration, tx: Transaction): Promise<void> {
  try {
    await migration.up(tx);
  } catch (cause) {
    throw new MigrationError(`migration "${migration.name}" failed, nothing was changed: ${String(cause)}`, {
      cause,
    });
  }
}

function handlersOf({ handlers }: HandlerMigration): readonly string[] {
  return handlers ?? [CONFIGURATION];
}

/** For errors. */
export function describeOwners(migration: HandlerMigration): string {
  return handlersOf(migration)
    .map((handler) => (handler === CONFIGURATION ? "the configuration file" : `the handler of "${handler}"`))
    .join(" and ");
}

/** A handler's name holds no space. */
function keyOf(handler: string, name: string): string {
  return `${handler} ${name}`;
}
