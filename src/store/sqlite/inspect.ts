import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  checkInvariants,
  type Inspection,
  type InspectOptions,
  type IntegrityReport,
  type InvariantResult,
  inspectTables,
  MAX_EXAMPLES,
  readingDatabase,
} from "../inspection.ts";
import { toSqliteValue } from "./connection.ts";
import { primaryCode } from "./database-errors.ts";
import { assertOwnTables, assertReadable, withReadOnlyDatabase } from "./database-file.ts";

/** Inspects a database without changing it. @throws the driver's error when it is not a database */
export async function inspectSqlite(path: string, options: InspectOptions = {}): Promise<Inspection> {
  const { tables: asked = [] } = options;
  if (!existsSync(path)) return { exists: false, tables: [] };
  return withReadOnlyDatabase(path, async (database) => {
    const find = database.prepare("SELECT name FROM sqlite_schema WHERE name = ? COLLATE NOCASE");
    const exists = (name: string) => find.get(name) !== undefined;
    const tables = asked.filter(exists);
    if (!exists("oncehook_schema") || !exists("oncehook_settings")) return { exists: false, tables };
    const found = await inspectTables(readOn(database), options);
    return { exists: true, tables, durabilityWarnings: [], ...found };
  });
}

/** The condition for a file to be used at all. */
export const FILE_INTACT = "file-intact";

/** https://sqlite.org/rescode.html: CORRUPT and NOTADB. */
const UNREADABLE: ReadonlySet<number | undefined> = new Set([11, 26]);

/**
 * Checks a database's integrity, while it may be in use. Each invariant has a snapshot of its own: one for all would stop
 * the WAL from restarting for as long. An unreadable file breaks the first invariant.
 * @throws MaintenanceError where there is no file, or none of Oncehook's; the driver's error when the machine is in trouble
 */
export async function checkSqlite(path: string): Promise<IntegrityReport> {
  assertReadable(path);
  try {
    return await withReadOnlyDatabase(path, check);
  } catch (cause) {
    if (!(cause instanceof Error) || !UNREADABLE.has(primaryCode(cause))) throw cause;
    return { contents: undefined, invariants: [intactFile([cause.message])] };
  }
}

async function check(database: DatabaseSync): Promise<IntegrityReport> {
  const all = (text: string) => database.prepare(text).all();
  assertOwnTables(database);
  const trouble = all("PRAGMA integrity_check")
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== "ok");
  const dangling = all("PRAGMA foreign_key_check").map(({ table, rowid }) => `${table} ${rowid}`);
  const keys = toResult("foreign-keys", "PRAGMA foreign_key_check reports no missing row", dangling);
  const { contents, invariants } = await checkInvariants(readOn(database));
  return { contents, invariants: [intactFile(trouble), keys, ...invariants] };
}

const readOn = (database: DatabaseSync) =>
  readingDatabase("sqlite", async ({ sql, parameters }) => {
    // A receiver that checks itself serves callbacks between two statements.
    await nextTurn();
    return { rows: database.prepare(sql).all(...parameters.map(toSqliteValue)) };
  });

function intactFile(errors: readonly string[]): InvariantResult {
  return toResult(FILE_INTACT, "PRAGMA integrity_check reports no error", errors);
}

function toResult(name: string, message: string, all: readonly string[]): InvariantResult {
  return { name, message, violations: all.length, examples: all.slice(0, MAX_EXAMPLES) };
}
