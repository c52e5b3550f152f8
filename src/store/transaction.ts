import type { Kysely } from "kysely";

export type Dialect = "sqlite" | "postgres";

/**
 * Kysely over tables that this project cannot know; `query.withTables<{ orders: … }>()` makes it typed.
 */
// biome-ignore lint/suspicious/noExplicitAny: the tables are the user's, and Kysely has no weaker type that still builds queries
export type OpenQuery = Kysely<any>;

export interface Executed {
  readonly rows: readonly Record<string, unknown>[];
  /** How many rows it changed, where it returns none. */
  readonly changes: number;
}

/** The open transaction as a handler sees it. Every use after its end throws. */
export interface Transaction {
  readonly dialect: Dialect;
  readonly query: OpenQuery;
  /** One statement as this database spells it, with its values: `?` on SQLite, `$1` on PostgreSQL. */
  execute(statement: string, values?: readonly unknown[]): Promise<Executed>;
  /** The driver's own: `DatabaseSync` of `node:sqlite`, or `Client` of `pg`, inside the transaction. */
  readonly connection: unknown;
}

/** Told of what a handler does through `tx`. None of it may throw. */
export interface TransactionWatch {
  /**
   * A statement was begun.
   * @returns told of its end: how many rows it returned or changed; null where it failed
   */
  began(statement: string): (rows: number | null) => void;
  /** The driver's own connection was handed out: what goes through it is not told. */
  connectionUsed(): void;
  /** A rehearsal has succeeded, and the database may hold foreign keys that only a commit would have checked. */
  keysUnchecked(): void;
}
