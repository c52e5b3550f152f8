import type { EventKey } from "../../domain/index.ts";
import type { StoredRecord } from "../areas/records.ts";
import type { Connection } from "./connection.ts";
import { findRecord } from "./event-task.ts";
import type { Flusher } from "./flusher.ts";

type Lookups = readonly { readonly key: EventKey }[];

/**
 * Reads records, and returns only those that are on the disk.
 * @param ownCommits how many this connection has made: SQLite's `data_version` counts only those of the others
 */
export function createRecordReader(connection: Connection, flusher: Flusher, ownCommits = () => 0) {
  /** The state of the database of which all is known to be on the disk. */
  let flushed: string | undefined;
  return async (lookups: Lookups): Promise<(StoredRecord | undefined)[]> => {
    const { records, version } = readNow(connection, lookups);
    const state = `${version} ${ownCommits()}`;
    // One may have been committed a moment ago, here or by another process, and not be on the disk yet.
    if (state !== flushed && records.some((record) => record !== undefined)) {
      await flusher.flush();
      flushed = state;
    }
    return records;
  };
}

/** One read transaction for all: to begin one costs more than to look a record up. */
function readNow(connection: Connection, lookups: Lookups) {
  connection.run("BEGIN");
  try {
    // Another one after each commit of another connection (https://sqlite.org/pragma.html#pragma_data_version); the
    // transaction sees this one state and no later one.
    const { data_version: version } = connection.get("PRAGMA data_version") as { data_version: number };
    const records = lookups.map(({ key }) => {
      const record = findRecord(connection, key);
      // One that is not completed was left by a handler itself; its event is refused.
      return record?.status === "completed" ? record : undefined;
    });
    return { records, version };
  } finally {
    if (connection.database.isTransaction) connection.run("COMMIT");
  }
}
