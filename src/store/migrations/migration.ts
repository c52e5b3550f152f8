import type { Dialect, Transaction } from "../transaction.ts";

/**
 * One step of a handler's own tables. It runs once, before the service listens, inside a transaction that holds
 * the migration lock; a throw leaves the database as it was. The handler's type and the name are its identity: never
 * rename one.
 */
export interface Migration {
  readonly name: string;
  up(tx: Transaction): Promise<void>;
}

/** The owner of what the configuration file lists itself; no event type is written like this. */
export const CONFIGURATION = "*";

/** A migration with the types of the handlers that list it. */
export interface HandlerMigration extends Migration {
  /** `CONFIGURATION` alone when left out. */
  readonly handlers?: readonly string[];
}

export interface MigrationReport {
  /** What was applied now, in order; empty when the database was up to date. */
  readonly applied: readonly string[];
}

/** One numbered step of the service's own schema. Never edited after a release; a change is a new step. */
export interface SchemaStep {
  readonly number: number;
  readonly name: string;
  statements(types: ColumnTypes): readonly string[];
}

/** The column types that differ by database. */
export interface ColumnTypes {
  readonly id: string;
  readonly time: string;
  readonly bytes: string;
  readonly bigint: string;
  /** Compared byte for byte, whatever the database's locale. */
  readonly eventId: string;
}

export const COLUMN_TYPES: Record<Dialect, ColumnTypes> = {
  sqlite: { id: "integer PRIMARY KEY", time: "text", bytes: "blob", bigint: "integer", eventId: "text" },
  postgres: {
    id: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    time: "timestamptz",
    bytes: "bytea",
    bigint: "bigint",
    eventId: 'text COLLATE "C"',
  },
};
