import type { Kysely } from "kysely";

export type Dialect = "sqlite" | "postgres";

/**
 * Kysely over tables that this project cannot know; `query.withTables<{ orders: … }>()` makes it typed.
 */
// biome-ignore lint/suspicious/noExplicitAny: the tables are the user's, and Kysely has no weaker type that still builds queries
export type OpenQuery = Kysely<any>;

/** The open transaction as a handler sees it. Every use after its end throws. */
export interface Transaction {
  readonly dialect: Dialect;
  readonly query: OpenQuery;
  /** The driver's own: `DatabaseSync` of `node:sqlite`, or `Client` of `pg`, inside the transaction. */
  readonly connection: unknown;
}
