export { checkPostgres } from "./check-invariants.ts";
export { inspectPostgres } from "./inspect.ts";
export { openPostgresStore, type PostgresOptions } from "./open-postgres-store.ts";
