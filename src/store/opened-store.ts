import type { Clock } from "../domain/index.ts";
import type { Stamp } from "./migrations/check-stamp.ts";
import type { MigrationReport, OwnedMigration } from "./migrations/migration.ts";
import type { Store } from "./store.ts";

/** What every adapter needs to open a database. */
export interface OpenOptions {
  readonly clock: Clock;
  /** Applied after the service's own schema, in this order. */
  readonly migrations: readonly OwnedMigration[];
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
  /** What an operator should know, and what keeps nobody from serving. */
  readonly notes: readonly string[];
}
