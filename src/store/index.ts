export { sql } from "kysely";
export type {
  AlertChange,
  AlertKey,
  AlertKind,
  Alerts,
  Arrival,
  ArrivalDay,
  ExhaustedCounts,
  OutcomeCount,
  StoredAlert,
} from "./alerts.ts";
export type { Attempts, AttemptTrigger, NewAttempt, StoredAttempt } from "./attempts.ts";
export type { Audit, AuditFilter, AuditOutcome, NewAuditEntry, StoredAuditEntry } from "./audit.ts";
export type { PendingLookup } from "./batched-lookup.ts";
export type {
  BulkReplayCounts,
  BulkReplayProgress,
  BulkReplayState,
  BulkReplays,
  DueReplay,
  NewBulkReplay,
  StoredBulkReplay,
} from "./bulk-replays.ts";
export { keepCallSites, withHandlersFrames } from "./call-site.ts";
export type { CallbackSearchResult, Callbacks, StoredCallback } from "./callback-log.ts";
export type {
  CapturedRequest,
  CaptureExtent,
  CaptureLimits,
  Captures,
  NewCapturedRequest,
} from "./captures.ts";
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
export type { ConfiguredCredential, CredentialUse } from "./credential-uses.ts";
export type { Deliveries, DeliveryLease, DueDelivery } from "./deliveries.ts";
export type { EncryptedKind, EncryptedValue, EncryptedValues } from "./encrypted-values.ts";
export type { FailedAttempt, FailureLease, FailureLeases } from "./failure-leases.ts";
export type { FailureRecovery, InterruptedAttempt, RecoveryOptions } from "./failure-recovery.ts";
export type { FailureFilter, Failures, NewFailure, StoredFailure, WaitingType } from "./failures.ts";
export { noteUnhandledRejection } from "./handler-transaction.ts";
export type { Inspection, InspectOptions, StoredCredentialUse } from "./inspection.ts";
export type { DatabaseContents, IntegrityReport, InvariantResult } from "./integrity.ts";
export type { Lease } from "./lease.ts";
export { NEWEST_SCHEMA, outdatedSchema } from "./migrations/apply-migrations.ts";
export { isWrongKey, type KeyStamp, WRONG_KEY } from "./migrations/check-stamp.ts";
export {
  CONFIGURATION,
  type HandlerMigration,
  type Migration,
  type MigrationReport,
} from "./migrations/migration.ts";
export type {
  ListedNotification,
  NotificationFilter,
  StoredDelivery,
  StoredNotification,
} from "./notifications.ts";
export type { Completion, OnceOptions, OnceResult, OnceScope, PendingEvent } from "./once.ts";
export type { Outbox, RedeliveryResult } from "./outbox.ts";
export type { ForwardPage, Page, SearchPage, SearchResult } from "./paging.ts";
export type { PreparationClaim, Preparations } from "./preparations.ts";
export type { RateCount } from "./rate-counters.ts";
export type { NewRecord, StoredRecord } from "./records.ts";
export type { RedirectStates } from "./redirect-states.ts";
export type { DeletedRows, RetentionLimits } from "./retention.ts";
export type { Deadline } from "./retry-until.ts";
export type { RollupSlot, Rollups } from "./rollups.ts";
export type { Role, Sessions, StoredSession } from "./sessions.ts";
export type { OpenedStore, OpenOptions, Store, StoreCore } from "./store.ts";
export { MaintenanceError, MigrationError, StoreError, type StoreErrorReason } from "./store-errors.ts";
export type {
  Dialect,
  ExecuteResult,
  PostgresConnection,
  PostgresTransaction,
  SqliteTransaction,
  Transaction,
  TransactionObserver,
  UntypedQuery,
} from "./transaction.ts";
export type { RefreshedTokens, StoredUserTokens, UserTokens } from "./user-tokens.ts";
