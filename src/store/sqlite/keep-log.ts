import { DatabaseSync } from "node:sqlite";

const KEPT: DatabaseSync[] = [];

/**
 * The last connection that closes copies what is left of the log and deletes it. After a flush that failed the log may be
 * the only whole copy: a connection that can do nothing but read is left open, so that none of the others is the last,
 * and the next start copies the log from its begin.
 */
export function keepLog(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  database.prepare("SELECT count(*) FROM sqlite_schema").get();
  KEPT.push(database);
}
