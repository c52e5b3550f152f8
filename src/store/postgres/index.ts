export { checkPostgres } from "./check-invariants.ts";
export { openCopyTarget } from "./copy-target.ts";
export { inspectPostgres } from "./inspect.ts";
export { openPostgresStore, type PostgresOptions } from "./open-postgres-store.ts";
export { createOwnDatabase, type OwnDatabase } from "./own-database.ts";
