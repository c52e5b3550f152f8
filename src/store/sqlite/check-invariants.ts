import { DatabaseSync } from "node:sqlite";
import { aWhileAgo, type CheckedInvariant, counting, INVARIANTS, toCheckedInvariant } from "../invariants.ts";

const FILE = {
  name: "file-intact",
  says: "SQLite finds its file intact (PRAGMA integrity_check)",
  pragma: "integrity_check",
};
const KEYS = {
  name: "foreign-keys",
  says: "no row points to one that is missing (PRAGMA foreign_key_check)",
  pragma: "foreign_key_check",
};

/** What a file must hold to be used at all. */
export const FILE_CHECKS: ReadonlySet<string> = new Set([FILE.name, KEYS.name]);
const PATIENCE_MS = 5_000;

/**
 * Holds a database against its invariants, while it may be in use: each on a snapshot of its own, since one for all of
 * them would keep the log from beginning anew for as long.
 * @throws the driver's error when it cannot be opened
 */
export function checkSqliteInvariants(path: string): CheckedInvariant[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: PATIENCE_MS });
  const since = aWhileAgo();
  try {
    const trouble = database
      .prepare(`PRAGMA ${FILE.pragma}`)
      .all()
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== "ok");
    const dangling = database.prepare(`PRAGMA ${KEYS.pragma}`).all();
    return [
      { name: FILE.name, says: FILE.says, broken: trouble.length, examples: trouble.slice(0, 5) },
      {
        name: KEYS.name,
        says: KEYS.says,
        broken: dangling.length,
        examples: dangling.slice(0, 5).map(({ table, rowid }) => `${table} ${rowid}`),
      },
      ...INVARIANTS.map((invariant) =>
        toCheckedInvariant(invariant, database.prepare(counting(invariant, since)).all()),
      ),
    ];
  } finally {
    database.close();
  }
}
