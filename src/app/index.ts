export { adminParts } from "./admin-parts.ts";
export type { Assembled } from "./assemble.ts";
export {
  backfillOnce,
  backup,
  type CopyReport,
  copyDatabase,
  type DatabaseLocation,
  databaseName,
  migrate,
  reconcileOnce,
  restore,
  runDoctor,
  verifyDatabase,
} from "./commands.ts";
export { type TemporaryDatabase, temporaryDatabase } from "./open-store.ts";
export { maxAttemptMs } from "./services.ts";
export * from "./start.ts";
