import type { Clock } from "../domain/index.ts";
import type { Stamp } from "./migrations/check-stamp.ts";
import type { HandlerMigration, MigrationReport } from "./migrations/migration.ts";
/**
 * The store contract: what the rest of the service may ask of a database. `sqlite/` and `postgres/` keep it, the
 * conformance suite (`test/conformance/`) holds them to it, and only `app/` knows which one is in use.
 */

import type { CallbackLogEntry, EventKey } from "../domain/index.ts";
import type { AlertStore } from "./alerts.ts";
import type { AttemptStore } from "./attempts.ts";
import type { AuditStore } from "./audit.ts";
import type { PendingLookup } from "./batched-lookup.ts";
import type { BulkReplayStore } from "./bulk-replays.ts";
import type { CallbackStore, StoredCallback } from "./callback-log.ts";
import type { CaptureStore } from "./captures.ts";
import type { ConfiguredCredential, CredentialUse } from "./credential-uses.ts";
import type { SealedValueStore } from "./encrypted-values.ts";
import type { FailureStore } from "./failures.ts";
import type { StoredCredentialUse } from "./inspection.ts";
import type { Completion, OnceOptions, OnceResult, OnceScope, PendingEvent } from "./once.ts";
import type { OutboxStore } from "./outbox.ts";
import type { ForwardPage, Page } from "./paging.ts";
import type { PreparationStore } from "./preparations.ts";
import type { RateCount } from "./rate-counters.ts";
import type { NewRecord, StoredRecord } from "./records.ts";
import type { RedirectStateStore } from "./redirect-states.ts";
import type { DeletedRows, RetentionLimits } from "./retention.ts";
import type { Deadline } from "./retry-until.ts";
import type { RollupStore } from "./rollups.ts";
import type { SessionStore } from "./sessions.ts";
import type { StoreError } from "./store-errors.ts";
import type { UserTokenStore } from "./user-tokens.ts";

export interface Store {
  readonly dialect: "sqlite" | "postgres";
  /** The completed record of an event; a busy or briefly absent database is retried until the deadline. */
  find(key: EventKey, deadline: Deadline): Promise<StoredRecord | undefined>;
  /** The same for a delivery of the pipeline; those of one turn of the event loop share a read. */
  lookUp(lookup: PendingLookup): void;
  /**
   * The heart: runs `run` at most once to completion for a key. One transaction holds the record, whatever
   * `run` writes, and the log row. An error of `run` rolls all of it back and is thrown as it is.
   * @throws StoreError when the database could not do it in time, or COMMIT did not answer well
   */
  once(
    record: NewRecord,
    run: (scope: OnceScope) => Promise<Completion>,
    options: OnceOptions,
  ): Promise<OnceResult>;
  /** The same for an event of the pipeline, whose handler shares a transaction with others where it can. */
  submit(event: PendingEvent): void;
  readonly failures: FailureStore;
  readonly attempts: AttemptStore;
  readonly bulkReplays: BulkReplayStore;
  readonly preparations: PreparationStore;
  readonly redirectStates: RedirectStateStore;
  readonly outbox: OutboxStore;
  readonly userTokens: UserTokenStore;
  readonly sealedValues: SealedValueStore;
  readonly alerts: AlertStore;
  readonly callbacks: CallbackStore;
  readonly rollups: RollupStore;
  readonly captures: CaptureStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  /** Adds rows to the callback log, all of them or none. */
  appendCallbacks(rows: readonly CallbackLogEntry[]): Promise<void>;
  /** The rows of one event, oldest first. */
  callbacksOf(key: EventKey, stretch: ForwardPage): Promise<StoredCallback[]>;
  listRecords(page: Page, filter: { eventId?: string }): Promise<StoredRecord[]>;
  /** Counts one hit in the key's current window and returns the count. */
  hitRate(key: string, windowMs: number, now: Date): Promise<RateCount>;
  /** Notes that a configured secret was accepted, so that an operator sees when an old one may go. */
  noteCredential(use: CredentialUse, now: Date): Promise<void>;
  /** Notes since when each secret has been a previous one; a current one is none. */
  noteConfiguredCredentials(credentials: readonly ConfiguredCredential[], now: Date): Promise<void>;
  /** When these secrets were accepted last, and since when they have been previous ones; one that was never either may be absent. */
  credentialUses(credentials: readonly CredentialUse[]): Promise<StoredCredentialUse[]>;
  /** Notes the base address that this database is used with, once the service listens. */
  noteBaseUrl(url: string): Promise<void>;
  /** Notes how long a run may take, in milliseconds, before there is one: what is found by its time is looked for so much around it. */
  noteLongestRun(ms: number): Promise<void>;
  /** Ends every lease of failures, deliveries and bulk replays: each process that held one has ended. */
  expireLeases(now: Date): Promise<void>;
  /** The retention job: deletes in bounded steps. */
  sweep(limits: RetentionLimits): Promise<DeletedRows>;
  /**
   * Resolves, with the reason, once a flush or a ROLLBACK has failed: from then on the store takes nothing, and only a new
   * process can find out what the disk has. Pending for ever where that cannot happen.
   */
  readonly broken: Promise<StoreError>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What every adapter needs to open a database. */
export interface OpenOptions {
  readonly clock: Clock;
  /** Applied after the service's own schema, in this order. */
  readonly migrations: readonly HandlerMigration[];
  readonly stamp: Stamp;
  /** Sees the text of each distinct statement; for the test that reads the query plans. */
  readonly onStatement?: (sql: string) => void;
}

export interface OpenedStore {
  readonly store: Store;
  readonly report: MigrationReport;
  /** The file that was made for it just now, where there was none. */
  readonly createdFile: string | undefined;
  /** The base address this database was last used with, where there was one. */
  readonly previousBaseUrl: string | undefined;
  /** Settings of the database under which the promise of durability does not hold. */
  readonly durabilityWarnings: readonly string[];
  /** Warnings for the operator; the service starts all the same. */
  readonly notes: readonly string[];
}
