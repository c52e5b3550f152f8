export { backupSqlite } from "./backup.ts";
export { checkSqlite, inspectSqlite } from "./inspect.ts";
export { openSqliteStore, type SqliteOptions } from "./open-sqlite-store.ts";
export { type Restored, restoreSqlite } from "./restore.ts";
