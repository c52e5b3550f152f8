export type { Inspection, SeenCredential } from "./inspection.ts";
export { MigrationRefused, NEWEST_SCHEMA, type Stamp } from "./migrations/apply-migrations.ts";
export type { OpenedStore, OpenOptions } from "./opened-store.ts";
export * from "./store.ts";
