import type { DatabaseSync } from "node:sqlite";
import { CareRefused } from "../care-refused.ts";
import { type CheckedDatabase, SELECT_CONTENTS, toContents } from "../checked-database.ts";
import {
  aWhileAgo,
  type CheckedInvariant,
  counting,
  EXAMPLES,
  INVARIANTS,
  toCheckedInvariant,
} from "../invariants.ts";
import { assertReadable } from "./assert-readable.ts";
import { primaryCode } from "./hindrance.ts";
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

/** What must hold for a file to be used at all; a user's own rows may point to nothing, and are his affair. */
export const FILE_INTACT = FILE.name;

/** https://sqlite.org/rescode.html: CORRUPT and NOTADB. */
const UNREADABLE: ReadonlySet<number | undefined> = new Set([11, 26]);

/**
 * Holds a database against its invariants, while it may be in use: each on a snapshot of its own, since one for all of
 * them would keep the log from beginning anew for as long. A file that cannot be read at all breaks the first of them.
 * @throws CareRefused where there is no file, or none of Oncehook's; the driver's error when the machine is in trouble
 */
export function checkSqlite(path: string): CheckedDatabase {
  assertReadable(path);
  try {
    return lookingAt(path, check);
  } catch (cause) {
    if (!(cause instanceof Error) || !UNREADABLE.has(primaryCode(cause))) throw cause;
    return { contents: undefined, invariants: [found(FILE, [cause.message])] };
  }
}

function check(database: DatabaseSync): CheckedDatabase {
  const since = aWhileAgo();
  const all = (text: string) => database.prepare(text).all();
  if (all("SELECT 1 FROM sqlite_schema WHERE name = 'oncehook_records'").length === 0) {
    throw new CareRefused(
      `${database.location()} holds none of Oncehook's tables: it is another program's, or empty`,
    );
  }
  const trouble = all(`PRAGMA ${FILE.pragma}`)
    .map((row) => String(Object.values(row)[0]))
    .filter((text) => text !== "ok");
  const dangling = all(`PRAGMA ${KEYS.pragma}`).map(({ table, rowid }) => `${table} ${rowid}`);
  const invariants = [
    found(FILE, trouble),
    found(KEYS, dangling),
    ...INVARIANTS.map((invariant) => toCheckedInvariant(invariant, all(counting(invariant, since)))),
  ];
  return { contents: toContents(all(SELECT_CONTENTS)[0] ?? {}), invariants };
}

function found({ name, says }: { name: string; says: string }, all: readonly string[]): CheckedInvariant {
  return { name, says, broken: all.length, examples: all.slice(0, EXAMPLES) };
}
