export { openPostgresStore, type PostgresOptions } from "./open-postgres-store.ts";
