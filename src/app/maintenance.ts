import { resolve } from "node:path";
import type { Config } from "../config/index.ts";
import { errorReason } from "../domain/index.ts";
import { type IntegrityReport, MaintenanceError } from "../store/index.ts";
import type { Restored } from "../store/sqlite/index.ts";
import { systemClock } from "../system/index.ts";

export type DatabaseLocation = Pick<Config, "database" | "environment">;

/** Holds the configured database, or an SQLite file, against its invariants. @throws MaintenanceError */
export function verifyDatabase({ database }: DatabaseLocation, file?: string): Promise<IntegrityReport> {
  return withMaintenanceError(`${databaseName(database, file)} cannot be read`, async () => {
    if (file === undefined && database.kind === "postgres") {
      const { checkPostgres } = await import("../store/postgres/index.ts");
      return checkPostgres(database.url, database.schema ?? undefined);
    }
    const { checkSqlite } = await import("../store/sqlite/index.ts");
    return checkSqlite(resolve(file ?? sqlitePath(database)));
  });
}

export function backup({ database }: DatabaseLocation, to: string): Promise<IntegrityReport> {
  return withMaintenanceError(`${databaseName(database)} cannot be copied`, async () => {
    const path = sqlitePath(database);
    const { backupSqlite } = await import("../store/sqlite/index.ts");
    return backupSqlite(path, to);
  });
}

export function restore({ database, environment }: DatabaseLocation, from: string): Promise<Restored> {
  return withMaintenanceError(`${from} cannot be put in the place of ${databaseName(database)}`, async () => {
    const path = sqlitePath(database);
    const { restoreSqlite } = await import("../store/sqlite/index.ts");
    return restoreSqlite({ from, path, environment, now: systemClock.now() });
  });
}

/** A database in words for an operator, without its password. */
export function databaseName(database: Config["database"], file?: string): string {
  if (file !== undefined) return resolve(file);
  if (database.kind === "sqlite") return database.path;
  const address = URL.parse(database.url) ?? URL.parse(database.url.replace("@/", "@localhost/"));
  if (address === null) return "the database in DATABASE_URL";
  const schema = database.schema === null ? "" : `the schema ${database.schema} of `;
  return `${schema}the database ${address.pathname.slice(1)} on ${address.host || "this machine"}`;
}

function sqlitePath(database: Config["database"]): string {
  if (database.kind === "sqlite") return database.path;
  throw new MaintenanceError(
    "DATABASE_URL is a PostgreSQL database; use its own tools (pg_basebackup and archived WAL, or pg_dump): docs/reliability.md",
  );
}

/** Whatever the system or the driver says of a disk or of a server is for the operator, who needs no stack. */
export async function withMaintenanceError<T>(
  what: string,
  work: () => Promise<T>,
  variable = "DATABASE_URL",
) {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof MaintenanceError) throw cause;
    throw new MaintenanceError(`${variable}: ${what}: ${errorReason(cause)}`, { cause });
  }
}
