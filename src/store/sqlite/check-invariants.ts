import { DatabaseSync } from "node:sqlite";
import { type CheckedInvariant, counting, INVARIANTS, toCheckedInvariant } from "../invariants.ts";

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

/**
 * Holds a database against its invariants, as it is at one instant, while it may be in use.
 * @throws the driver's error when it cannot be opened
 */
export function checkSqliteInvariants(path: string): CheckedInvariant[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec("BEGIN");
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
        toCheckedInvariant(invariant, database.prepare(counting(invariant)).all()),
      ),
    ];
  } finally {
    database.close();
  }
}
