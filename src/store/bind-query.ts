import {
  type AbortableQueryOptions,
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  DefaultQueryExecutor,
  type DialectAdapter,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  type KyselyPlugin,
  type QueryCompiler,
  type QueryResult,
  type UnknownRow,
} from "kysely";

/** How compiled statements reach a database. */
export type Execute = (query: CompiledQuery) => Promise<QueryResult<unknown>>;

/** Kysely's own parts for one database: how SQL is spelled, and what it may use. */
export interface SqlDialect {
  createAdapter(): DialectAdapter;
  createQueryCompiler(): QueryCompiler;
  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector;
}

/**
 * A Kysely whose statements all go through `execute`, called before the builder's own call returns. Transactions are the
 * store's, so it refuses to begin one.
 */
export function bindQuery<Tables>(sqlDialect: SqlDialect, execute: Execute): Kysely<Tables> {
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
    createAdapter: () => sqlDialect.createAdapter(),
    createQueryCompiler: () => sqlDialect.createQueryCompiler(),
    createIntrospector: (db) => sqlDialect.createIntrospector(db),
    createDriver: () => driver,
  };
  const executor = new DirectExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), connection);
  return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
}

/** Kysely's own executor waits for a connection first: a call that is not awaited would be seen too late. */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #parts: readonly [QueryCompiler, DialectAdapter, DatabaseConnection];

  constructor(
    compiler: QueryCompiler,
    adapter: DialectAdapter,
    connection: DatabaseConnection,
    plugins: readonly KyselyPlugin[] = [],
  ) {
    super(compiler, adapter, { provideConnection: async (consumer) => consumer(connection) }, [...plugins]);
    this.#parts = [compiler, adapter, connection];
  }

  override async executeQuery<Row>(
    query: CompiledQuery,
    options?: AbortableQueryOptions,
  ): Promise<QueryResult<Row>> {
    options?.signal?.throwIfAborted();
    let result: QueryResult<UnknownRow> = await this.#parts[2].executeQuery(query);
    for (const plugin of this.plugins) {
      result = await plugin.transformResult({ queryId: query.queryId, result, signal: options?.signal });
    }
    return result as QueryResult<Row>;
  }

  #with(plugins: readonly KyselyPlugin[]): DirectExecutor {
    return new DirectExecutor(...this.#parts, plugins);
  }

  override withPlugins(plugins: readonly KyselyPlugin[]): DirectExecutor {
    return this.#with([...this.plugins, ...plugins]);
  }

  override withPlugin(plugin: KyselyPlugin): DirectExecutor {
    return this.#with([...this.plugins, plugin]);
  }

  override withPluginAtFront(plugin: KyselyPlugin): DirectExecutor {
    return this.#with([plugin, ...this.plugins]);
  }

  override withoutPlugins(): DirectExecutor {
    return this.#with([]);
  }

  /** There is one connection. */
  override withConnectionProvider(): DirectExecutor {
    return this;
  }
}

function refuse(what: string): never {
  throw new Error(
    `tx.query cannot ${what}: the transaction is open already, and Oncehook commits it with the event's record. ` +
      "Throw to roll it back.",
  );
}
