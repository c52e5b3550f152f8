export { MigrationRefused, type Stamp } from "./migrations/apply-migrations.ts";
export type { OpenedStore } from "./opened-store.ts";
export * from "./store.ts";
