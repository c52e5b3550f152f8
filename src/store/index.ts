export { keepCallSites, withHandlersFrames } from "./call-site.ts";
export { CareRefused } from "./care-refused.ts";
export type { CheckedDatabase, Contents } from "./checked-database.ts";
export {
  asText,
  type CopyPair,
  type CopyProgress,
  type CopySource,
  type CopyTarget,
  type Fingerprint,
  FingerprintSum,
  NOT_COPIED,
  type SourceRow,
  type SourceTable,
} from "./copying.ts";
export { noteUnhandledRejection } from "./guarded.ts";
export type { Inspection, Look, SeenCredential } from "./inspection.ts";
export type { CheckedInvariant } from "./invariants.ts";
export { NEWEST_SCHEMA } from "./migrations/apply-migrations.ts";
export { ANOTHER_KEY, isAnotherKey, type KeyStamp } from "./migrations/check-stamp.ts";
export { MigrationRefused } from "./migrations/migration-refused.ts";
export type { OpenedStore, OpenOptions } from "./opened-store.ts";
export * from "./store.ts";
