export type * from "./areas/access.ts";
export type * from "./areas/alerts.ts";
export type * from "./areas/attempts.ts";
export type * from "./areas/backfills.ts";
export { NO_BACKFILL_COUNTS } from "./areas/backfills.ts";
export type * from "./areas/bulk-replays.ts";
export type * from "./areas/callback-log.ts";
export type * from "./areas/captures.ts";
export type { ScannedRow } from "./areas/erasure.ts";
export type { StoredEventReplay } from "./areas/event-replays.ts";
export type * from "./areas/failure-leases.ts";
export type * from "./areas/failures.ts";
export type { GroupBlock } from "./areas/group-blocks.ts";
export {
  type BulkReplayFilter,
  bulkReplayName,
  type HandledEvent,
  type NewUnreplayedEvent,
  type UnreplayedEvent,
} from "./areas/handled-events.ts";
export type { Lease } from "./areas/lease.ts";
export type * from "./areas/notification-deliveries.ts";
export type * from "./areas/notifications.ts";
export type * from "./areas/oauth.ts";
export { type EventOrder, isKeyWaiting, takeOrder } from "./areas/order-keys.ts";
export { byArrival, isErased, type OriginalBlock, type OriginalPosition } from "./areas/originals.ts";
export type * from "./areas/outbox.ts";
export type { ForwardPage, IdRange, Page, SearchPage, SearchResult } from "./areas/paging.ts";
export type { PreparationClaim, Preparations } from "./areas/preparations.ts";
export type { Mute, ProblemStates } from "./areas/problem-states.ts";
export type { ProblemList } from "./areas/problems.ts";
export type * from "./areas/reconciliations.ts";
export type { RecordedRun } from "./areas/recorded-runs.ts";
export type { NewRecord, StoredRecord } from "./areas/records.ts";
export type { RefusedSources } from "./areas/refused-sources.ts";
export type { DeletedRows, RetentionLimits } from "./areas/retention.ts";
export type * from "./areas/rollups.ts";
export type * from "./areas/secrets.ts";
export type { KnownKeys, SeenEvent } from "./areas/seen-events.ts";
export { ErasedMeanwhile, type SlowHandler } from "./areas/settings.ts";
export type { StoredArea, StoredSizes } from "./areas/sizes.ts";
export type { IgnoredType, SlowCallback } from "./areas/source-activity.ts";
export type * from "./areas/source-secrets.ts";
export { envelopeOf, isErasedRow, STORED_EVENTS, type StoredEvent, type StoredType } from "./areas/stored-events.ts";
export { BlockWriter, sortKey, type ValueBlock } from "./areas/value-blocks.ts";
export type { BuiltSegment, IndexedRow, ValueIndex, ValueSegment } from "./areas/value-index.ts";
export { uncoveredRanges } from "./areas/value-ranges.ts";
export type { PendingLookup } from "./batches.ts";
export { keepCallSites, withHandlersFrames } from "./call-site.ts";
export type { StoredCallback } from "./callback-columns.ts";
export {
  type Connection,
  ConnectionSettings,
  type DatabaseSettings,
  type PoolSettings,
} from "./connection-settings.ts";
export type * from "./inspection.ts";
export {
  CONFIGURATION,
  type HandlerMigration,
  isWrongKey,
  type KeyStamp,
  type Migration,
  NEWEST_SCHEMA,
  pendingSteps,
  sqlMigration,
  WRONG_KEY,
} from "./migrations/apply-migrations.ts";
export type * from "./once.ts";
export { preparationKeyOf } from "./once.ts";
export type { Original } from "./original-block.ts";
export {
  createOriginalKeepers,
  decryptOriginals,
  encryptOriginals,
  encryptOriginalsAside,
  type KeptEvent,
  type NewBlock,
  type NewLogRow,
  ORIGINALS_CONTEXT,
  type OriginalKeeper,
  type OriginalRequest,
  originalBytes,
  sealOriginal,
} from "./original-keeper.ts";
export { type Deadline, MESSAGES } from "./retry-until.ts";
export { sql } from "./sql.ts";
export type { OpenedStore, OpenOptions, Store, StoreCore } from "./store.ts";
export {
  causesOf,
  MaintenanceError,
  MigrationError,
  OrderKeyLocked,
  StoreError,
  type StoreErrorReason,
} from "./store-errors.ts";
export type * from "./transaction.ts";
export { ownQueryOf } from "./transaction-handle.ts";
