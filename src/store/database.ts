import type { Kysely } from "kysely";
import type { StoreErrorReason } from "./store-errors.ts";
import type { Tables } from "./tables.ts";
import type { Dialect } from "./transaction.ts";

/** How areas read and write a database, beside the hot path; SQLite reads beside its one writer. */
export interface Database {
  readonly dialect: Dialect;
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
  /** Whether an error passes by itself, as a busy database does. */
  readonly transientReason: (error: unknown) => StoreErrorReason | undefined;
  /** Several statements in one transaction; it may be run again where a passing fault stopped it. */
  transact<T>(work: (query: Kysely<Tables>) => Promise<T>): Promise<T>;
}

/** One subject of the store with all of its SQL, written once for both databases. */
export abstract class Area {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }
}
