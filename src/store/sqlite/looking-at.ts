import { DatabaseSync } from "node:sqlite";

/** Another process may just be opening the file after a crash, or be closing it. */
const PATIENCE_MS = 5_000;

/** Lends a connection that can do nothing but read. @throws the driver's error for a file that is no database */
export function lookingAt<T>(path: string, look: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(path, { readOnly: true, timeout: PATIENCE_MS });
  try {
    return look(database);
  } finally {
    database.close();
  }
}
