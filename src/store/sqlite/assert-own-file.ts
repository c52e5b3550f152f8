import { accessSync, constants, statSync } from "node:fs";
import { MigrationRefused } from "../migrations/migration-refused.ts";
import { lookingAt } from "./looking-at.ts";

const SELECT_TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name";
const NAMED = 3;

/**
 * Looks at a file before anything is written to it: somebody else's database would be given tables, and another journal.
 * @throws MigrationRefused for a database that is not Oncehook's; the driver's error for a file that is none
 */
export function assertOwnFile(path: string): void {
  const { size, isFolder } = found(path);
  if (isFolder) throw new MigrationRefused(`DATABASE_URL: ${path} is a folder; name a file in it`);
  if (size === 0) return;
  const tables = lookingAt(path, (database) => database.prepare(SELECT_TABLES).all()).map(({ name }) =>
    String(name),
  );
  if (tables.length === 0 || tables.includes("oncehook_schema")) return;
  const more = tables.length > NAMED ? ", …" : "";
  throw new MigrationRefused(
    `DATABASE_URL: ${path} holds tables, and none of Oncehook's (${tables.slice(0, NAMED).join(", ")}${more}). Name a ` +
      "file that does not exist yet; handlers bring their own tables into it.",
  );
}

/** SQLite itself would say of both that it cannot open the file. @throws MigrationRefused for a file of another user */
function found(path: string): { size: number; isFolder: boolean } {
  const stats = statSync(path);
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (cause) {
    const words = `this user may not read and write ${path}, which belongs to the user ${stats.uid}`;
    throw new MigrationRefused(`DATABASE_URL: ${words}; start as that one, or give it to this one (chown)`, {
      cause,
    });
  }
  return { size: stats.size, isFolder: stats.isDirectory() };
}
