export { checkPostgres, inspectPostgres } from "./inspect.ts";
export { openPostgresStore, type PostgresOptions } from "./open-postgres-store.ts";
export { createScratchDatabase } from "./scratch-database.ts";
