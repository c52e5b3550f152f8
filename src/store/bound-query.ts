import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type DialectAdapter,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  type QueryCompiler,
  type QueryResult,
} from "kysely";

/** How compiled statements reach a database. */
export type Execute = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** Kysely's own parts for one database: how SQL is spelled, and what it may use. */
export interface Spelling {
  createAdapter(): DialectAdapter;
  createQueryCompiler(): QueryCompiler;
  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector;
}

/** A Kysely whose statements all go through `execute`; transactions are the store's, so it refuses to begin one. */
export function bindQuery<Tables>(spelling: Spelling, execute: Execute): Kysely<Tables> {
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
  const dialect: KyselyDialect = {
    createAdapter: () => spelling.createAdapter(),
    createQueryCompiler: () => spelling.createQueryCompiler(),
    createIntrospector: (db) => spelling.createIntrospector(db),
    createDriver: () => driver,
  };
  return new Kysely<Tables>({ dialect });
}

function refuse(what: string): never {
  throw new Error(
    `tx.query cannot ${what}: the transaction is open already, and Oncehook commits it with the event's record. ` +
      "Throw to roll it back.",
  );
}
