import {
  aWhileAgo,
  type CheckedInvariant,
  counting,
  EXAMPLES,
  INVARIANTS,
  toCheckedInvariant,
} from "../invariants.ts";
import { lookingAt } from "./looking-at.ts";

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

/**
 * Holds a database against its invariants, while it may be in use: each on a snapshot of its own, since one for all of
 * them would keep the log from beginning anew for as long.
 * @throws the driver's error when it cannot be opened
 */
export function checkSqliteInvariants(path: string): CheckedInvariant[] {
  const since = aWhileAgo();
  return lookingAt(path, (database) => {
    const trouble = database
      .prepare(`PRAGMA ${FILE.pragma}`)
      .all()
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== "ok");
    const dangling = database.prepare(`PRAGMA ${KEYS.pragma}`).all();
    return [
      found(FILE, trouble),
      found(
        KEYS,
        dangling.map(({ table, rowid }) => `${table} ${rowid}`),
      ),
      ...INVARIANTS.map((invariant) =>
        toCheckedInvariant(invariant, database.prepare(counting(invariant, since)).all()),
      ),
    ];
  });
}

function found({ name, says }: { name: string; says: string }, all: readonly string[]): CheckedInvariant {
  return { name, says, broken: all.length, examples: all.slice(0, EXAMPLES) };
}
