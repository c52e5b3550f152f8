export { inspectSqlite } from "./inspect.ts";
export { openSqliteStore, type SqliteOptions } from "./open-sqlite-store.ts";
