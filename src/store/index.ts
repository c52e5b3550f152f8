export { sql } from "kysely";
export type * from "./access.ts";
export type * from "./alerts.ts";
export type { PendingLookup } from "./batches.ts";
export type * from "./bulk-replays.ts";
export { keepCallSites, withHandlersFrames } from "./call-site.ts";
export type { StoredCallback } from "./callback-columns.ts";
export type { CallbackSearchResult, Callbacks } from "./callback-log.ts";
export type * from "./captures.ts";
export {
  type CopyPair,
  type CopyProgress,
  type CopySource,
  type CopyTarget,
  type Fingerprint,
  FingerprintSum,
  NOT_COPIED,
  type SourceRow,
  type SourceTable,
  toPostgresText,
} from "./copy.ts";
export type * from "./deliveries.ts";
export type * from "./encrypted-values.ts";
export type * from "./failure-leases.ts";
export type * from "./failures.ts";
export { noteUnhandledRejection } from "./handler-transaction.ts";
export type * from "./inspection.ts";
export type * from "./integrity.ts";
export type { Lease } from "./lease.ts";
export {
  CONFIGURATION,
  type HandlerMigration,
  type Migration,
  type MigrationReport,
  NEWEST_SCHEMA,
  outdatedSchema,
} from "./migrations/apply-migrations.ts";
export { isWrongKey, type KeyStamp, WRONG_KEY } from "./migrations/check-stamp.ts";
export type {
  ListedNotification,
  NotificationFilter,
  StoredDelivery,
  StoredNotification,
} from "./notifications.ts";
export type * from "./oauth.ts";
export {
  type Completion,
  type OnceOptions,
  type OnceResult,
  type OnceScope,
  type PendingEvent,
  runHandler,
} from "./once.ts";
export type { Outbox, RedeliveryResult } from "./outbox.ts";
export type { ForwardPage, Page, SearchPage, SearchResult } from "./paging.ts";
export type { PreparationClaim, Preparations } from "./preparations.ts";
export type { NewRecord, StoredRecord } from "./records.ts";
export type { DeletedRows, RetentionLimits } from "./retention.ts";
export type { Deadline } from "./retry-until.ts";
export type { RollupSlot, Rollups } from "./rollups.ts";
export type { OpenedStore, OpenOptions, Store, StoreCore } from "./store.ts";
export { MaintenanceError, MigrationError, StoreError, type StoreErrorReason } from "./store-errors.ts";
export type * from "./transaction.ts";
