/**
 * The store contract. `sqlite/` and `postgres/` implement `StoreCore`; the areas are the same on both. The conformance suite
 * (`test/conformance/`) tests both, and only `app/` knows which one is in use.
 */
import type { Clock, EventKey } from "../domain/index.ts";
import type { Areas } from "./areas/areas.ts";
import type { StoredRecord } from "./areas/records.ts";
import type { PendingLookup } from "./batches.ts";
import type { Database } from "./database.ts";
import type { HandlerMigration, Stamp } from "./migrations/apply-migrations.ts";
import type { PendingEvent } from "./once.ts";
import type { NewLogRow } from "./original-keeper.ts";
import type { Deadline } from "./retry-until.ts";
import type { StoreError } from "./store-errors.ts";
import type { Dialect, TransactionObserver } from "./transaction.ts";

/** The part of the store that differs by database. */
export interface StoreCore {
  readonly dialect: Dialect;
  readonly database: Database;
  /** The completed record of an event; a busy or briefly absent database is retried until the deadline. */
  find(key: EventKey, deadline: Deadline): Promise<StoredRecord | undefined>;
  /** `find` for a delivery of the pipeline; the look-ups of one turn of the event loop share a read. */
  lookUp(lookup: PendingLookup): void;
  /**
   * Handles an event at most once. One transaction holds its record, the writes of its handler, and the log entry. It is shared
   * with other events where it can be. An error of the handler rolls its part back.
   */
  submit(event: PendingEvent): void;
  /** Runs an event in a transaction that is rolled back at its end. @param observer sees its statements */
  dryRun(event: PendingEvent, observer?: TransactionObserver): void;
  /**
   * For a receiver, once, before it leases anything. It ends the leases of an SQLite file that no other receiver has open.
   * Retries and deliveries then need not wait for those of an ended one. On PostgreSQL they wait.
   */
  endStaleLeases(now: Date): Promise<void>;
  /** Adds entries to the callback log, and the originals that they bring: all of them or none. */
  appendCallbacks(rows: readonly NewLogRow[]): Promise<void>;
  /**
   * Resolves, with the reason, after a flush or a ROLLBACK failed. From then on the store takes nothing, and only a new process
   * can find out what the disk holds. Pending for ever where that cannot happen.
   */
  readonly broken: Promise<StoreError>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type Store = StoreCore & Areas;

export interface OpenOptions {
  readonly clock: Clock;
  /** Applied after the service's own schema, in this order. */
  readonly migrations: readonly HandlerMigration[];
  readonly stamp: Stamp;
}

export interface OpenedStore {
  readonly store: Store;
  /** The migrations that were applied now, in order; in a dry run, those that would be. */
  readonly applied: readonly string[];
  /** The file that was made for it just now, where there was none. */
  readonly createdFile: string | undefined;
  /** The base address this database was last used with, where there was one. */
  readonly previousBaseUrl: string | undefined;
  /** Settings of the database under which the promise of durability does not hold. */
  readonly durabilityWarnings: readonly string[];
  /** Warnings for the operator; the service starts all the same. */
  readonly notes: readonly string[];
}
