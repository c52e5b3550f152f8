import type { OnceOptions, OnceTransaction } from "../../src/once/index.ts";

export type Level = "read committed" | "repeatable read" | "serializable";
/** The application's tables: `note text NOT NULL`. */
export type Table = "effects" | "audits";

/** An application's way to its database, by its library. */
export interface Library<Tx> {
  transaction<T>(level: Level, work: (tx: Tx) => Promise<T>): Promise<T>;
  join(tx: Tx, options?: OnceOptions): OnceTransaction<Tx>;
  /** As a mistaken application does it. @throws where the library can tell its pool from a transaction */
  joinPool(): OnceTransaction<Tx>;
  insert(tx: Tx, table: Table, note: string): Promise<unknown>;
  /** Sends a statement that the database refuses. */
  fail(tx: Tx): Promise<unknown>;
  /** A savepoint of the application, where the library has one. */
  nested?(tx: Tx, work: (inner: Tx) => Promise<void>): Promise<void>;
  close(): Promise<unknown>;
}

export interface LibraryOptions {
  readonly connections?: number;
  /** Whether postgres.js names its statements, as it does by default. */
  readonly prepare?: boolean;
}

export type OpenLibrary<Tx> = (url: string, options?: LibraryOptions) => Promise<Library<Tx>>;

export const FAILING = "INSERT INTO effects (note) VALUES (NULL)";
