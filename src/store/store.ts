/**
 * The store contract: what the rest of the service may ask of a database. `sqlite/` and `postgres/` keep it, the
 * conformance suite (`test/conformance/`) holds them to it, and only `app/` knows which one is in use.
 */

import type { CallbackLogRow, EventKey, JsonObject } from "../domain/index.ts";
import type { AlertStore } from "./alert-store.ts";
import type { AttemptStore, Stretch } from "./attempt-store.ts";
import type { AuditStore } from "./audit-store.ts";
import type { BulkReplayStore } from "./bulk-replay-store.ts";
import type { CallbackStore, LoggedCallback } from "./callback-store.ts";
import type { FailureStore } from "./failure-store.ts";
import type { HeardStore } from "./heard-store.ts";
import type { SeenCredential } from "./inspection.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type { Page } from "./page.ts";
import type { PreparationStore } from "./preparation-store.ts";
import type { RollupStore } from "./rollup-store.ts";
import type { SealedValueStore } from "./sealed-values.ts";
import type { SessionStore } from "./session-store.ts";
import type { StoreFault } from "./store-fault.ts";
import type { Transaction, TransactionWatch } from "./transaction.ts";
import type { UserTokenStore } from "./user-token-store.ts";

export { sql } from "kysely";
export type * from "./alert-store.ts";
export type * from "./attempt-store.ts";
export type * from "./audit-store.ts";
export type * from "./bulk-replay-store.ts";
export type * from "./callback-store.ts";
export type * from "./failure-store.ts";
export type { HeardExtent, HeardLimits, HeardStore, NewHeard, StoredHeard } from "./heard-store.ts";
export type { Lease } from "./lease.ts";
export {
  CONFIGURATION,
  type Migration,
  type MigrationReport,
  type OwnedMigration,
} from "./migrations/migration.ts";
export type {
  DeliveryLease,
  DueDelivery,
  ListedNotification,
  NotificationFilter,
  OutboxStore,
  Revived,
  StoredDelivery,
  StoredNotification,
} from "./outbox-store.ts";
export type { Found, Page, Search } from "./page.ts";
export type { PreparationClaim, PreparationStore } from "./preparation-store.ts";
export type { RollupSlot, RollupStore } from "./rollup-store.ts";
export type { SealedKind, SealedValue, SealedValueStore } from "./sealed-values.ts";
export type * from "./session-store.ts";
export { StoreFault, type StoreFaultReason } from "./store-fault.ts";
export type {
  Dialect,
  Executed,
  OpenQuery,
  PostgresConnection,
  PostgresTransaction,
  SqliteTransaction,
  Transaction,
  TransactionWatch,
} from "./transaction.ts";
export type { RefreshedTokens, StoredUserTokens, UserTokenStore } from "./user-token-store.ts";

/** Milliseconds on the scale of `performance.now()`, which no clock change can move. */
export type Deadline = number;

/** What the record of an event keeps besides its result (SPEC 2.4). */
export interface NewRecord extends EventKey {
  readonly eventType: string;
  readonly version: string;
  /** SHA-256 of the first body, lowercase hex: tells a duplicate from another event under the same id. */
  readonly bodySha256: string;
}

/** A record as others can see it; `processing` exists only inside the transaction that creates it. */
export interface StoredRecord extends NewRecord {
  readonly id: number;
  readonly status: "processing" | "completed";
  readonly result: JsonObject | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly processedAt: string | null;
}

/** What `run` may do inside the transaction of `once`. */
export interface OnceScope {
  /** Handed to the handler; refuses every use after the transaction has ended. */
  readonly tx: Transaction;
  /** Writes an outbox row that becomes visible with the record. */
  enqueue(notification: { readonly topic: string; readonly payload: JsonObject }): Promise<void>;
}

/** What `run` hands back: the result to store, and the log row that commits with it. */
export interface Completion {
  readonly result: JsonObject;
  readonly logRow?: CallbackLogRow;
}

export type OnceEnding =
  /** This call ran and committed. */
  | { readonly ending: "completed"; readonly result: JsonObject }
  /** A completed record was there, or came to be while this call waited; `run` had no effect. */
  | { readonly ending: "already"; readonly record: StoredRecord }
  /** `run` succeeded and all of it was rolled back on purpose. */
  | { readonly ending: "rehearsed"; readonly result: JsonObject };

export interface OnceOptions {
  /** Waiting for another delivery, and retrying a fault of the database's own, ends here. */
  readonly deadline: Deadline;
  /** `rehearse` rolls everything back at the end (a dry run). */
  readonly mode: "commit" | "rehearse";
  /** Told what `run` does with its transaction, which may be begun more than once. */
  readonly watch?: TransactionWatch | undefined;
}

/** States of OAuth flows; only their hashes are kept. A flow that was started here has no row while it is under way. */
export interface RedirectStateStore {
  /** Expects a state of a flow that the platform starts. */
  register(stateSha256: string, expiresAt: Date, now: Date): Promise<void>;
  /** False when it was not registered, has expired or was consumed. @throws StoreFault at the deadline, as `find` does */
  isRegistered(stateSha256: string, now: Date, deadline: Deadline): Promise<boolean>;
  /** Ends a registered flow without a code: its state is expected no more. */
  consume(stateSha256: string): Promise<void>;
  /**
   * Ends a flow that was started here. Deletes some of what has expired; past ten thousand in ten minutes each takes the
   * place of the one that expires first.
   */
  spend(stateSha256: string, expiresAt: Date, now: Date): Promise<void>;
  /** @throws StoreFault at the deadline, as `find` does */
  isSpent(stateSha256: string, deadline: Deadline): Promise<boolean>;
}

/** A secret by its method and keyed fingerprint, whatever place it has in the configuration. */
export interface CredentialUse {
  readonly method: string;
  readonly fingerprint: string;
}

export interface ConfiguredCredential extends CredentialUse {
  /** Whether it is on its way out. */
  readonly isPrevious: boolean;
}

export interface RateCount {
  readonly points: number;
  readonly resetAt: Date;
}

/** What the retention job keeps. */
export interface SweepLimits {
  /** Older rows of the callback log go. */
  readonly callbacks: Date;
  /** Older records go; without it they are kept for ever. */
  readonly records?: Date;
  /** How many rows of the callback log may belong to no event: requests of strangers. */
  readonly strangersKept: number;
  /** How many bytes they may take; without it there is no such bound. */
  readonly strangerBytes?: number;
  readonly now: Date;
}

/** How much the retention job deleted. */
export interface Swept {
  readonly callbacks: number;
  readonly records: number;
  readonly stale: number;
}

export interface Store {
  readonly dialect: "sqlite" | "postgres";
  /** The completed record of an event; a busy or briefly absent database is retried until the deadline. */
  find(key: EventKey, deadline: Deadline): Promise<StoredRecord | undefined>;
  /**
   * The heart: runs `run` at most once to completion for a key. One transaction holds the record, whatever
   * `run` writes, and the log row. An error of `run` rolls all of it back and is thrown as it is.
   * @throws StoreFault when the database could not do it in time, or COMMIT did not answer well
   */
  once(
    record: NewRecord,
    run: (scope: OnceScope) => Promise<Completion>,
    options: OnceOptions,
  ): Promise<OnceEnding>;
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
  readonly heard: HeardStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  /** Adds rows to the callback log, all of them or none. */
  appendCallbacks(rows: readonly CallbackLogRow[]): Promise<void>;
  /** The rows of one event, oldest first. */
  callbacksOf(key: EventKey, stretch: Stretch): Promise<LoggedCallback[]>;
  listRecords(page: Page, filter: { eventId?: string }): Promise<StoredRecord[]>;
  /** Counts one hit in the key's current window and returns the count. */
  hitRate(key: string, windowMs: number, now: Date): Promise<RateCount>;
  /** Notes that a configured secret was accepted, so that an operator sees when an old one may go. */
  noteCredential(use: CredentialUse, now: Date): Promise<void>;
  /** Notes since when each secret has been a previous one; a current one is none. */
  noteConfigured(credentials: readonly ConfiguredCredential[], now: Date): Promise<void>;
  /** When these secrets were accepted last, and since when they have been previous ones; one that was never either may be absent. */
  credentialUses(credentials: readonly CredentialUse[]): Promise<SeenCredential[]>;
  /** Notes the base address that this database is used with, once the service listens. */
  noteBaseUrl(url: string): Promise<void>;
  /** Notes how long a run may take, in milliseconds, before there is one: what is found by its time is looked for so much around it. */
  noteLongestRun(ms: number): Promise<void>;
  /** Ends every lease of failures, deliveries and bulk replays: each process that held one has ended. */
  expireLeases(now: Date): Promise<void>;
  /** The retention job: deletes in bounded steps. */
  sweep(limits: SweepLimits): Promise<Swept>;
  /**
   * Resolves, with the reason, once a flush or a ROLLBACK has failed: from then on the store takes nothing, and only a new
   * process can find out what the disk has. Pending for ever where that cannot happen.
   */
  readonly broken: Promise<StoreFault>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
