import type { CompiledQuery, QueryResult } from "kysely";
import { bindQuery, type SqlDialect } from "./bind-query.ts";
import { assertOpen, type HandlerTransaction, trackCall } from "./handler-transaction.ts";
import type { Dialect, ExecuteResult, Transaction, TransactionObserver, UntypedQuery } from "./transaction.ts";

type CompiledStatement = Pick<CompiledQuery, "sql" | "parameters">;

/** The differences between the databases, the same for every transaction on one connection. */
export interface TransactionDriver {
  readonly dialect: Dialect;
  readonly sqlDialect: SqlDialect;
  /** SQLite itself asks for each statement that it compiles. @throws Error for one that no handler may run */
  readonly assertAllowed?: (sql: string) => void;
  /** A statement of Oncehook's own as it is sent. */
  readonly ownText?: (sql: string) => string;
  readonly execute: (statement: CompiledStatement) => QueryResult<unknown> | Promise<QueryResult<unknown>>;
  /** The driver's own connection, guarded. */
  readonly connection: (transaction: HandlerTransaction) => object;
}

/** The handler's `tx`. Each part is created on first use. */
class TransactionHandle {
  readonly #transaction: HandlerTransaction;
  readonly #driver: TransactionDriver;
  #query: UntypedQuery | undefined;
  #connection: object | undefined;

  constructor(transaction: HandlerTransaction, driver: TransactionDriver) {
    this.#transaction = transaction;
    this.#driver = driver;
  }

  /** No member of a handle, so that no handler meets it. */
  static ownQueryOf(tx: object): UntypedQuery | undefined {
    if (!(#driver in tx)) return undefined;
    const { ownText = String, sqlDialect } = tx.#driver;
    return bindQuery(sqlDialect, ({ sql, parameters }) => tx.#run({ sql: ownText(sql), parameters }));
  }

  get dialect(): Dialect {
    return this.#driver.dialect;
  }

  get query(): UntypedQuery {
    this.#query ??= bindQuery(this.#driver.sqlDialect, (statement) => this.#run(statement));
    return this.#query;
  }

  /** No method: a handler may take it out of its transaction. */
  readonly execute = async (sql: string, parameters: readonly unknown[] = []): Promise<ExecuteResult> => {
    const { rows, numAffectedRows } = await this.#run({ sql, parameters });
    return { rows: rows as Record<string, unknown>[], changes: Number(numAffectedRows ?? 0) };
  };

  get connection(): object {
    assertOpen(this.#transaction, "tx.connection");
    this.#transaction.observer?.connectionUsed();
    this.#connection ??= this.#driver.connection(this.#transaction);
    return this.#connection;
  }

  #run(statement: CompiledStatement): Promise<QueryResult<unknown>> {
    const { observer } = this.#transaction;
    const run = () => {
      // A driver would find out only when what goes before the statement is sent.
      if (!Array.isArray(statement.parameters))
        throw new TypeError("tx.execute takes the statement's values as an array");
      this.#driver.assertAllowed?.(statement.sql);
      return this.#driver.execute(statement);
    };
    const what = String(statement.sql);
    return trackCall(this.#transaction, what, observer === undefined ? run : () => observed(observer, statement, run));
  }
}

/** The open transaction for a handler; its connection is of the driver that its dialect has. */
export function createTransactionHandle(transaction: HandlerTransaction, driver: TransactionDriver): Transaction {
  return new TransactionHandle(transaction, driver) as unknown as Transaction;
}

/** Like `tx.query`, for Oncehook's own tables: it names them as the store does, whatever the search path is. */
export function ownQueryOf(tx: Transaction): UntypedQuery {
  return TransactionHandle.ownQueryOf(tx) ?? tx.query;
}

async function observed(
  observer: TransactionObserver,
  { sql, parameters }: CompiledStatement,
  run: () => ReturnType<TransactionDriver["execute"]>,
): Promise<QueryResult<unknown>> {
  const ended = observer.statementStarted(sql, parameters);
  let rows: number | null = null;
  try {
    const result = await run();
    rows = Number(result.numAffectedRows ?? result.rows.length);
    return result;
  } finally {
    ended(rows);
  }
}
