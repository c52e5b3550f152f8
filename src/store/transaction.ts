import type { EventEmitter } from "node:events";
import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";

export type Dialect = "sqlite" | "postgres";

// biome-ignore lint/suspicious/noExplicitAny: the tables are the user's, and Kysely has no weaker type that still builds queries
type AnyTables = any;

/**
 * Kysely over tables that this project cannot know: any table, column and value. `defineHandler<Tables>()`, or
 * `withTables<Tables>()` here, makes it typed.
 */
export interface UntypedQuery extends Kysely<AnyTables> {
  /** Kysely adds tables to those it knows; beside `any` they would stay without effect. */
  withTables<Tables extends Record<string, Record<string, AnyTables>>>(): Kysely<Tables>;
  $extendTables<Tables extends Record<string, Record<string, AnyTables>>>(): Kysely<Tables>;
}

type IsAny<Type> = 0 extends 1 & Type ? true : false;
type QueryOf<Tables> = IsAny<Tables> extends true ? UntypedQuery : Kysely<Tables>;

export interface ExecuteResult<Row = Record<string, unknown>> {
  readonly rows: readonly Row[];
  /** How many rows it changed, where it returns none. */
  readonly changes: number;
}

interface Statements<Tables> {
  readonly query: QueryOf<Tables>;
  /** One statement as this database spells it, with its values: `?` on SQLite, `$1` on PostgreSQL. */
  execute(statement: string, values?: readonly unknown[]): Promise<ExecuteResult>;
}

export interface SqliteTransaction<Tables = AnyTables> extends Statements<Tables> {
  readonly dialect: "sqlite";
  /** The driver's own, inside the transaction. */
  readonly connection: DatabaseSync;
}

export interface PostgresTransaction<Tables = AnyTables> extends Statements<Tables> {
  readonly dialect: "postgres";
  /** The driver's own, inside the transaction. */
  readonly connection: PostgresConnection;
}

/** The open transaction as a handler sees it: every use after its end throws. `dialect` tells the driver of `connection`. */
export type Transaction<Tables = AnyTables> = SqliteTransaction<Tables> | PostgresTransaction<Tables>;

/** Members of `pg`'s `Client` that would give the connection away, end it, or change it for later events. */
type RefusedMember =
  | "connect"
  | "end"
  | "release"
  | "copyFrom"
  | "copyTo"
  | "pauseDrain"
  | "resumeDrain"
  | "setTypeParser"
  | "connection"
  | "pipeline"
  | "host"
  | "port"
  | "ssl"
  | keyof EventEmitter;

/**
 * The connection of the transaction as `pg` has it, for query builders: `drizzle(tx.connection)`. It is a `PoolClient` of
 * `pg` to the compiler; members that no handler may use are `never`, and throw.
 */
export interface PostgresConnection extends Readonly<Record<RefusedMember, never>> {
  readonly user?: string | undefined;
  readonly database?: string | undefined;
  readonly processID?: number | null;
  escapeIdentifier(text: string): string;
  escapeLiteral(text: string): string;
  getTypeParser(type: number, format?: AnyTables): AnyTables;
  getTransactionStatus(): "I" | "T" | "E" | null;
  /** Cursors, streams and callbacks are refused: the transaction would not wait for them. */
  query(refused: never, ...others: never[]): never;
  query<Row = AnyTables>(
    statement: string | { readonly text: string; readonly values?: AnyTables[]; readonly name?: string },
    values?: AnyTables[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

/** Observes what a handler does through `tx`. Its methods must not throw. */
export interface TransactionObserver {
  /** A statement started. @returns is called at its end with the rows returned or changed; null if it failed */
  statementStarted(statement: string, values: readonly unknown[]): (rows: number | null) => void;
  /** The driver's own connection was used: its statements are not observed. */
  connectionUsed(): void;
  /** A dry run succeeded, and the database may hold foreign keys that only a commit would have checked. */
  foreignKeysUnchecked(): void;
}
