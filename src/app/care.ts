import type { Config } from "../config/index.ts";
import { systemClock } from "../domain/index.ts";
import { BackupRefused, type CheckedInvariant } from "../store/index.ts";
import type { Restored } from "../store/sqlite/index.ts";
import { StartRefused } from "./start-refused.ts";

/** Holds the configured database against its invariants. @throws StartRefused when it cannot be read */
export async function checkInvariants({ database }: Config): Promise<readonly CheckedInvariant[]> {
  try {
    if (database.kind === "sqlite") {
      const { checkSqliteInvariants } = await import("../store/sqlite/index.ts");
      return checkSqliteInvariants(database.path);
    }
    const { checkPostgresInvariants } = await import("../store/postgres/index.ts");
    return await checkPostgresInvariants(database.url);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartRefused(
      `DATABASE_URL: the database cannot be read: ${why}; was the receiver ever started on it?`,
      { cause },
    );
  }
}

/** Copies the embedded database while it may be in use. @throws BackupRefused */
export async function backup({ database }: Config, to: string): Promise<readonly CheckedInvariant[]> {
  if (database.kind !== "sqlite") throw new BackupRefused(ELSEWHERE);
  const { backupSqlite } = await import("../store/sqlite/index.ts");
  return backupSqlite(database.path, to);
}

/** Puts a copy in the place of the embedded database. @throws BackupRefused */
export async function restore({ database }: Config, from: string): Promise<Restored> {
  if (database.kind !== "sqlite") throw new BackupRefused(ELSEWHERE);
  const { restoreSqlite } = await import("../store/sqlite/index.ts");
  return restoreSqlite(from, database.path, systemClock.now());
}

const ELSEWHERE =
  "DATABASE_URL is a PostgreSQL database; use its own tools (pg_basebackup and archived WAL, or pg_dump): docs/reliability.md";
