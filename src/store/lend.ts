import type { CompiledQuery, Kysely, QueryResult } from "kysely";
import { bindQuery, type Spelling } from "./bound-query.ts";
import { assertOpen, counted, type Lending } from "./guarded.ts";
import type { Dialect, Executed, OpenQuery, Transaction, TransactionWatch } from "./transaction.ts";

type Statement = Pick<CompiledQuery, "sql" | "parameters">;

/** What differs between the databases, the same for every transaction on one connection. */
export interface Lender {
  readonly dialect: Dialect;
  readonly spelling: Spelling;
  /** @throws Error for a statement that no handler may run */
  readonly assertAllowed: (sql: string) => void;
  readonly execute: (statement: Statement) => QueryResult<unknown> | Promise<QueryResult<unknown>>;
  /** The driver's own connection, guarded. */
  readonly driver: (lending: Lending) => object;
}

/** The open transaction for a handler. Each part is made on first use: nobody pays for the ways that he does not go. */
class LentTransaction {
  readonly #lending: Lending;
  readonly #lender: Lender;
  #query: OpenQuery | undefined;
  #connection: object | undefined;

  constructor(lending: Lending, lender: Lender) {
    this.#lending = lending;
    this.#lender = lender;
  }

  get dialect(): Dialect {
    return this.#lender.dialect;
  }

  get query(): OpenQuery {
    this.#query ??= bindQuery(this.#lender.spelling, (statement) => this.#run(statement)) as Kysely<unknown>;
    return this.#query;
  }

  /** No method: a handler may take it out of its transaction. */
  readonly execute = async (sql: string, parameters: readonly unknown[] = []): Promise<Executed> => {
    const { rows, numAffectedRows } = await this.#run({ sql, parameters });
    return { rows: rows as Record<string, unknown>[], changes: Number(numAffectedRows ?? 0) };
  };

  get connection(): object {
    assertOpen(this.#lending, "tx.connection");
    this.#lending.watch?.connectionUsed();
    this.#connection ??= this.#lender.driver(this.#lending);
    return this.#connection;
  }

  #run(statement: Statement): Promise<QueryResult<unknown>> {
    const { watch } = this.#lending;
    const run = () => {
      // A driver would find out only when what goes before the statement is sent.
      if (!Array.isArray(statement.parameters))
        throw new TypeError("tx.execute takes the statement's values as an array");
      this.#lender.assertAllowed(statement.sql);
      return this.#lender.execute(statement);
    };
    const { sql } = statement;
    return counted(this.#lending, String(sql), watch === undefined ? run : () => watched(watch, sql, run));
  }
}

/** The open transaction for a handler; its connection is of the driver that its dialect has. */
export function lendTransaction(lending: Lending, lender: Lender): Transaction {
  return new LentTransaction(lending, lender) as unknown as Transaction;
}

async function watched(
  watch: TransactionWatch,
  sql: string,
  run: () => ReturnType<Lender["execute"]>,
): Promise<QueryResult<unknown>> {
  const ended = watch.began(sql);
  let rows: number | null = null;
  try {
    const result = await run();
    rows = Number(result.numAffectedRows ?? result.rows.length);
    return result;
  } finally {
    ended(rows);
  }
}
