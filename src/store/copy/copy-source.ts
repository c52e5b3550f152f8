import { DatabaseSync } from "node:sqlite";
import { assertCurrent, SELECT_SCHEMA } from "../inspection.ts";
import { transientReason } from "../sqlite/database-errors.ts";
import { assertOwnTables, assertReadable, inUseError } from "../sqlite/database-file.ts";
import { migrationIdentity, quoted, type SourceTable, type SourceValue } from "./copy.ts";

/** The database that is copied. It is locked against every other process until it is closed, and not changed. */
export type CopySource = ReturnType<typeof openCopySource>;

/** @throws MaintenanceError where it is in use, or holds none of Oncehook's tables; the driver's error for another file */
export function openCopySource(path: string) {
  assertReadable(path);
  const database = new DatabaseSync(path, { readBigInts: true });
  try {
    lock(database, path);
    const all = (text: string) => database.prepare(text).all();
    assertOwnTables(database);
    const schema = assertCurrent(all(SELECT_SCHEMA)[0]);
    const settings = all("SELECT name, value FROM oncehook_settings");
    return {
      schema,
      settings: new Map(settings.map(({ name, value }) => [String(name), String(value)])),
      /** Those of handlers and of the configuration that were applied. */
      migrations: all("SELECT handler, name FROM oncehook_handler_migrations").map(migrationIdentity),
      tables: tablesOf(database),
      /** The rows after a position, from the first one where there is none. */
      rows: (table: string, columns: readonly string[], after: string | undefined) =>
        rowsOf(database, table, columns, after),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * In the exclusive mode the first read takes a lock that excludes every other connection, until this one is closed. It fails
 * where a receiver serves; one that starts meanwhile finds the database busy.
 */
function lock(database: DatabaseSync, path: string): void {
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT; PRAGMA query_only = ON");
  } catch (cause) {
    if (transientReason(cause) === undefined) throw cause;
    throw inUseError(path, cause);
  }
}

function tablesOf(database: DatabaseSync): SourceTable[] {
  const found = database
    .prepare(
      `SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
    )
    .all();
  return found.map((row) => {
    const name = String(row.name);
    const columns = database.prepare("SELECT name FROM pragma_table_xinfo(?) ORDER BY cid").all(name);
    const counted = database.prepare(`SELECT count(*) AS rows FROM ${quoted(name)}`).get();
    return { name, columns: columns.map((column) => String(column.name)), rows: Number(counted?.rows) };
  });
}

/** Row ids are not in the order of columns that are named like them. */
const ROW_IDS = ["_rowid_", "rowid", "oid"];

function* rowsOf(database: DatabaseSync, table: string, columns: readonly string[], after: string | undefined) {
  const rowId = rowIdOf(database, table);
  const beyond = after === undefined ? "" : `WHERE ${rowId} > ${BigInt(after)}`;
  // Without row ids the order of the key is the same in each run, since the source does not change.
  const range = rowId === undefined ? `LIMIT -1 OFFSET ${BigInt(after ?? 0)}` : `${beyond} ORDER BY ${rowId}`;
  const selected = [rowId ?? "row_number() OVER ()", ...columns.map(quoted)].join(", ");
  const statement = database.prepare(`SELECT ${selected} FROM ${quoted(table)} ${range}`);
  statement.setReturnArrays(true);
  for (const row of statement.iterate()) {
    const [position, ...values] = row as unknown as SourceValue[];
    yield { position: String(position), values };
  }
}

function rowIdOf(database: DatabaseSync, table: string): string | undefined {
  const row = database.prepare("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?").get(table);
  if (row?.wr === 1n) return undefined;
  const columns = database.prepare("SELECT lower(name) AS name FROM pragma_table_xinfo(?)").all(table);
  const taken = new Set(columns.map(({ name }) => String(name)));
  return ROW_IDS.find((name) => !taken.has(name));
}
