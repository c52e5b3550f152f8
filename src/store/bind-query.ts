import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type DialectAdapter,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { UntypedQuery } from "./transaction.ts";

export type Execute = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** Kysely's own parts for one database: how SQL is spelled, and what it may use. */
export type SqlDialect = Omit<KyselyDialect, "createDriver">;

/** Compiling is synchronous and begins afresh each time, so that one compiler serves every transaction. */
function sqlDialect(
  adapter: DialectAdapter,
  compiler: QueryCompiler,
  createIntrospector: SqlDialect["createIntrospector"],
): SqlDialect {
  return { createAdapter: () => adapter, createQueryCompiler: () => compiler, createIntrospector };
}

export const sqliteDialect = sqlDialect(
  new SqliteAdapter(),
  new SqliteQueryCompiler(),
  (db) => new SqliteIntrospector(db),
);
export const postgresDialect = sqlDialect(
  new PostgresAdapter(),
  new PostgresQueryCompiler(),
  (db) => new PostgresIntrospector(db),
);

/**
 * A Kysely whose statements all go through `execute`. It is called before the builder's call returns: one that is not awaited
 * would be seen too late otherwise. Transactions are the store's, so it refuses to begin one.
 */
export function bindQuery(sqlDialect: SqlDialect, execute: Execute): UntypedQuery {
  const connection: DatabaseConnection = {
    executeQuery: execute as DatabaseConnection["executeQuery"],
    streamQuery: () => refuse("stream rows"),
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: async () => refuse("begin a transaction"),
    commitTransaction: async () => refuse("commit"),
    rollbackTransaction: async () => refuse("roll back"),
    destroy: async () => {},
  };
  const dialect: KyselyDialect = { ...sqlDialect, createDriver: () => driver };
  const [compiler, adapter] = [dialect.createQueryCompiler(), dialect.createAdapter()];
  // Kysely's own provider waits for the connection first.
  const executor = new DefaultQueryExecutor(compiler, adapter, {
    provideConnection: (consumer) => consumer(connection),
  });
  return new Kysely({ config: { dialect }, dialect, driver, executor });
}

function refuse(what: string): never {
  throw new Error(
    `tx.query cannot ${what}: the transaction is open already, and Oncehook commits it with the event's record. ` +
      "Throw to roll it back.",
  );
}
