import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { retryUntil } from "../retry-until.ts";
import { transientReason } from "./database-errors.ts";

/** Another receiver holds the exclusive lock for one short transaction. */
const JOIN_TIMEOUT_MS = 10_000;

/**
 * Counts in as a receiver of the database until the result is closed, or the process ends in any way. The lock is
 * SQLite's, on an empty file beside the database. It tells receivers of one process apart, and the kernel frees that of
 * a killed process. A lock on the database itself would take a backup for a receiver.
 * @param whileAlone runs first where no other receiver is there; none can join meanwhile
 */
export async function joinReceivers(path: string, whileAlone: () => Promise<void>): Promise<{ close(): void }> {
  const file = `${path}-receivers`;
  // Only if there is none: to open and close a file takes away every lock of this process on it.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file);
  try {
    if (isAlone(database)) {
      await whileAlone();
      database.exec("COMMIT");
    }
    database.exec("BEGIN");
    // A read takes the shared lock, which the open transaction keeps.
    const read = () => database.exec("SELECT count(*) FROM sqlite_schema");
    await retryUntil(performance.now() + JOIN_TIMEOUT_MS, read, transientReason);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Begins a transaction that excludes all others. @returns false where there is another receiver, or one is joining */
function isAlone(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (transientReason(error) === undefined) throw error;
    return false;
  }
}
