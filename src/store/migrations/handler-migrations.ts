import type { Kysely } from "kysely";
import { MigrationError } from "../store-errors.ts";
import type { Transaction } from "../transaction.ts";
import { CONFIGURATION, type HandlerMigration } from "./migration.ts";

/** Which migrations of the handlers, and of the configuration file, a database has. */
export interface HandlerMigrationsTable {
  oncehook_handler_migrations: { handler: string; name: string; applied_at: string };
}

/**
 * Applies what the database does not have, each once for its handlers and its name.
 * @returns the names of what was applied now
 * @throws MigrationError when one fails
 */
export async function applyHandlerMigrations(
  query: Kysely<HandlerMigrationsTable>,
  tx: Transaction,
  own: readonly HandlerMigration[],
  now: Date,
): Promise<string[]> {
  const rows = await query.selectFrom("oncehook_handler_migrations").select(["handler", "name"]).execute();
  const done = new Set(rows.map(({ handler, name }) => keyOf(handler, name)));
  const applied: string[] = [];
  for (const migration of own) {
    const { name } = migration;
    const missing = handlersOf(migration).filter((handler) => !done.has(keyOf(handler, name)));
    if (missing.length === handlersOf(migration).length) {
      await apply(migration, tx);
      applied.push(name);
    }
    if (missing.length === 0) continue;
    const applied_at = now.toISOString();
    const fresh = missing.map((handler) => ({ handler, name, applied_at }));
    await query.insertInto("oncehook_handler_migrations").values(fresh).execute();
  }
  return applied;
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

/** A handler's name holds no space. */
function keyOf(handler: string, name: string): string {
  return `${handler} ${name}`;
}
