import { randomUUID } from "node:crypto";
import { accessSync, constants, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { MaintenanceError, MigrationError } from "../store-errors.ts";

/** Another process may be recovering or closing the file. */
const BUSY_TIMEOUT_MS = 5_000;

/** Runs `look` with a read-only connection. @throws the driver's error for a file that is not a database */
export async function withReadOnlyDatabase<T>(path: string, look: (database: DatabaseSync) => T | Promise<T>) {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return await look(database);
  } finally {
    database.close();
  }
}

/** The name of a copy until it is whole. Not by process id: each start of a container has the same, and files may be left. */
export function partialName(path: string): string {
  return `${path}.partial-${randomUUID()}`;
}

/** Why a database that another process has locked cannot be copied or replaced. */
export function inUseError(path: string, cause: unknown): MaintenanceError {
  const message = `${path} is in use; stop the receiver first, and keep its service manager from starting it`;
  return new MaintenanceError(message, { cause });
}

const SELECT_TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name";
const NAMED = 3;

/**
 * Looks at a file before anything is written to it: another program's database must get no tables and no WAL.
 * @throws MigrationError for a database that is not Oncehook's; the driver's error for a file that is no database
 */
export async function assertOwnFile(path: string): Promise<void> {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new MigrationError(`DATABASE_URL: ${path} is a folder; name a file in it`);
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (cause) {
    // SQLite itself would only say that it cannot open the file.
    const message = `this user may not read and write ${path}, which belongs to the user ${stats.uid}`;
    throw new MigrationError(`DATABASE_URL: ${message}; start as that one, or give it to this one (chown)`, { cause });
  }
  if (stats.size === 0) return;
  const found = await withReadOnlyDatabase(path, (database) => database.prepare(SELECT_TABLES).all());
  const tables = found.map(({ name }) => String(name));
  if (tables.length === 0 || tables.includes("oncehook_schema")) return;
  const more = tables.length > NAMED ? ", …" : "";
  throw new MigrationError(
    `DATABASE_URL: ${path} holds tables, and none of Oncehook's (${tables.slice(0, NAMED).join(", ")}${more}). Name a ` +
      "file that does not exist yet; handlers bring their own tables into it.",
  );
}

/** @throws MaintenanceError */
export function assertOwnTables(database: DatabaseSync): void {
  const own = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'oncehook_records'").get();
  if (own !== undefined) return;
  const message = `${database.location()} holds none of Oncehook's tables: it is another program's, or empty`;
  throw new MaintenanceError(message);
}

/** @throws MaintenanceError for what is no file, or not for this user; SQLite itself would only say that it cannot open it */
export function assertReadable(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new MaintenanceError(`there is no file ${path}; look for a misspelt path`);
  if (found.isDirectory()) throw new MaintenanceError(`${path} is a folder; name a file in it`);
  try {
    accessSync(path, constants.R_OK);
  } catch (cause) {
    throw new MaintenanceError(`this user may not read ${path}; run this as the user of the receiver`, { cause });
  }
}
