import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type Inspection, type InspectOptions, inspectTables } from "../inspection.ts";
import {
  assertCurrent,
  countViolations,
  INVARIANTS,
  type IntegrityReport,
  type InvariantResult,
  MAX_EXAMPLES,
  recentCutoff,
  SELECT_CONTENTS,
  SELECT_SCHEMA,
  toContents,
  toInvariantResult,
} from "../integrity.ts";
import { MaintenanceError } from "../store-errors.ts";
import { primaryCode } from "./database-errors.ts";
import { assertReadable, openReadOnly, withReadOnlyDatabase } from "./database-file.ts";

/** Inspects a database without changing it. @throws the driver's error when it is not a database */
export async function inspectSqlite(
  path: string,
  { tables: asked = [] }: InspectOptions = {},
): Promise<Inspection> {
  if (!existsSync(path)) return { exists: false, tables: [] };
  const database = openReadOnly(path);
  try {
    const find = database.prepare("SELECT name FROM sqlite_schema WHERE name = ? COLLATE NOCASE");
    const exists = (name: string) => find.get(name) !== undefined;
    const tables = asked.filter(exists);
    if (!exists("oncehook_schema") || !exists("oncehook_settings")) return { exists: false, tables };
    const found = await inspectTables((text) => database.prepare(text).all());
    return { exists: true, tables, durabilityWarnings: [], ...found };
  } finally {
    database.close();
  }
}

const FILE = {
  name: "file-intact",
  says: "PRAGMA integrity_check reports no error",
  pragma: "integrity_check",
};
const KEYS = {
  name: "foreign-keys",
  says: "PRAGMA foreign_key_check reports no missing row",
  pragma: "foreign_key_check",
};

/** What must hold for a file to be used at all; a user's own rows may point to nothing; they are not checked. */
export const FILE_INTACT = FILE.name;

/** https://sqlite.org/rescode.html: CORRUPT and NOTADB. */
const UNREADABLE: ReadonlySet<number | undefined> = new Set([11, 26]);

/**
 * Checks a database's integrity, while it may be in use. Each invariant has a snapshot of its own: one for all would stop
 * the WAL from restarting for as long. An unreadable file breaks the first invariant.
 * @throws MaintenanceError where there is no file, or none of Oncehook's; the driver's error when the machine is in trouble
 */
export function checkSqlite(path: string): IntegrityReport {
  assertReadable(path);
  try {
    return withReadOnlyDatabase(path, check);
  } catch (cause) {
    if (!(cause instanceof Error) || !UNREADABLE.has(primaryCode(cause))) throw cause;
    return { contents: undefined, invariants: [toResult(FILE, [cause.message])] };
  }
}

function check(database: DatabaseSync): IntegrityReport {
  const since = recentCutoff();
  const all = (text: string) => database.prepare(text).all();
  if (all("SELECT 1 FROM sqlite_schema WHERE name = 'oncehook_records'").length === 0) {
    throw new MaintenanceError(
      `${database.location()} holds none of Oncehook's tables: it is another program's, or empty`,
    );
  }
  assertCurrent(all(SELECT_SCHEMA)[0]);
  const trouble = all(`PRAGMA ${FILE.pragma}`)
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== "ok");
  const dangling = all(`PRAGMA ${KEYS.pragma}`).map(({ table, rowid }) => `${table} ${rowid}`);
  const invariants = [
    toResult(FILE, trouble),
    toResult(KEYS, dangling),
    ...INVARIANTS.map((invariant) => toInvariantResult(invariant, all(countViolations(invariant, since)))),
  ];
  return { contents: toContents(all(SELECT_CONTENTS)[0] ?? {}), invariants };
}

function toResult({ name, says }: { name: string; says: string }, all: readonly string[]): InvariantResult {
  return { name, message: says, violations: all.length, examples: all.slice(0, MAX_EXAMPLES) };
}
