export { sql } from "kysely";
export type * from "./access.ts";
export type * from "./alerts.ts";
export type * from "./attempts.ts";
export type { PendingLookup } from "./batches.ts";
export type * from "./bulk-replays.ts";
export { keepCallSites, withHandlersFrames } from "./call-site.ts";
export type { StoredCallback } from "./callback-columns.ts";
export type * from "./callback-log.ts";
export type * from "./captures.ts";
export type * from "./copy.ts";
export { NOT_COPIED } from "./copy.ts";
export type { DueState } from "./due-failures.ts";
export type * from "./failure-leases.ts";
export type * from "./failures.ts";
export { noteUnhandledRejection } from "./handler-transaction.ts";
export type * from "./inspection.ts";
export type { Lease } from "./lease.ts";
export {
  CONFIGURATION,
  type HandlerMigration,
  isWrongKey,
  type KeyStamp,
  type Migration,
  type MigrationReport,
  NEWEST_SCHEMA,
  pendingSteps,
  sqlMigration,
  WRONG_KEY,
} from "./migrations/apply-migrations.ts";
export type * from "./notification-deliveries.ts";
export type * from "./notifications.ts";
export type * from "./oauth.ts";
export type * from "./once.ts";
export { type EventOrder, isKeyWaiting, takeOrder } from "./order-keys.ts";
export type * from "./outbox.ts";
export type { ForwardPage, Page, SearchPage, SearchResult } from "./paging.ts";
export type { PreparationClaim, Preparations } from "./preparations.ts";
export type * from "./reconciliations.ts";
export type { NewRecord, StoredRecord } from "./records.ts";
export type { DeletedRows, RetentionLimits } from "./retention.ts";
export { type Deadline, MESSAGES } from "./retry-until.ts";
export type * from "./rollups.ts";
export type * from "./secrets.ts";
export type { SlowHandler } from "./settings.ts";
export type * from "./source-secrets.ts";
export type { OpenedStore, OpenOptions, Store, StoreCore } from "./store.ts";
export {
  causesOf,
  MaintenanceError,
  MigrationError,
  OrderKeyLocked,
  StoreError,
  type StoreErrorReason,
} from "./store-errors.ts";
export { envelopeOf, STORED_EVENTS, type StoredEvent, type StoredType } from "./stored-events.ts";
export type * from "./transaction.ts";
