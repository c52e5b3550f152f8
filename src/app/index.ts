export { openEmbeddedAdmin } from "./admin-parts.ts";
export { type Assembled, assemble } from "./assemble.ts";
export { type BackfillReport, backfillOnce } from "./backfill-once.ts";
export { withCommandAdmin } from "./command-admin.ts";
export {
  backup,
  type CopyReport,
  copyDatabase,
  type DatabaseLocation,
  databaseName,
  importSeenOnce,
  migrate,
  reconcileOnce,
  restore,
  runDoctor,
  verifyDatabase,
} from "./commands.ts";
export { type TemporaryDatabase, temporaryDatabase } from "./open-store.ts";
export { receiveParts } from "./receive-parts.ts";
export { beginRounds, createOneRound, takeStore } from "./rounds.ts";
export { maxAttemptMs } from "./services.ts";
export * from "./start.ts";
export { UndoSteps } from "./undo-steps.ts";
