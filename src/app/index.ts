export { type BackfillReport, backfillOnce } from "./backfill.ts";
export { type ConfiguredSource, configuredSources, sourceUrl } from "./configured-sources.ts";
export { type CopyReport, copyDatabase } from "./copy-database.ts";
export type { Finding } from "./doctor/check-secrets.ts";
export { runDoctor } from "./doctor/run-doctor.ts";
export { sourcesOfType, undocumented } from "./documented-types.ts";
export { migrate } from "./handlers.ts";
export { backup, type DatabaseLocation, databaseName, restore, verifyDatabase } from "./maintenance.ts";
export { maskOf } from "./masks.ts";
export { type ReconcileReport, reconcileOnce } from "./reconcile.ts";
export { maxAttemptMs } from "./services.ts";
export {
  type InspectableReceiver,
  type RunningReceiver,
  type StartOptions,
  start,
  startInspectableReceiver,
} from "./start.ts";
export { type TemporaryDatabase, temporaryDatabase } from "./temporary-database.ts";
