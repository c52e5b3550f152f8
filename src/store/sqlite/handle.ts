import type { SQLInputValue, StatementSync } from "node:sqlite";
import { getOrMake } from "../../domain/index.ts";
import { sqliteDialect } from "../bind-query.ts";
import {
  assertOpen,
  drainAndEndHandlerTransaction,
  guardConnection,
  HandlerTransaction,
} from "../handler-transaction.ts";
import { type Deadline, retryUntil } from "../retry-until.ts";
import { DatabaseErrorInHandler } from "../store-errors.ts";
import type { Transaction, TransactionObserver } from "../transaction.ts";
import { createTransactionHandle, type TransactionDriver } from "../transaction-handle.ts";
import type { Connection } from "./connection.ts";
import { isSystemError, toStoreError, transientReason } from "./database-errors.ts";

/** For the schema. @throws whatever `run` threw, after the rollback; StoreError when the database could not */
export async function inTransaction<T>(
  connection: Connection,
  deadline: Deadline,
  run: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { database } = connection;
  await retryUntil(deadline, () => database.exec("BEGIN IMMEDIATE"), transientReason);
  try {
    const value = await runHandler(connection, { start: run, complete: (value) => value as T });
    database.exec("COMMIT");
    return value;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw toStoreError(error);
  }
}

/** A handler, or the statements of the schema. */
export interface HandlerRun<T> {
  start(tx: Transaction, transaction: HandlerTransaction): unknown;
  /** Gets what `start` returned, once nothing of it is under way. */
  complete(returned: unknown): T;
}

/** Runs a handler inside the open transaction. @throws what it threw, or what SQLite made of its statements */
export async function runHandler<T>(connection: Connection, run: HandlerRun<T>, observer?: TransactionObserver) {
  connection.isInHandler = true;
  const transaction = new HandlerTransaction(() => connection.database.isTransaction, observer);
  try {
    const tx = createTransactionHandle(transaction, driverOf(connection));
    const returned = await run.start(tx, transaction);
    // If the transaction is gone, later statements would commit by themselves, one at a time.
    assertOpen(transaction);
    await drainAndEndHandlerTransaction(transaction);
    return run.complete(returned);
  } catch (error) {
    throw explainedError(error, connection);
  } finally {
    connection.isInHandler = false;
    connection.refusal = undefined;
    transaction.isOpen = false;
    // Left in progress, a statement would keep the connection's snapshot of the database.
    for (const rows of iterators.get(transaction) ?? []) rows.return?.();
  }
}

/** A handler's error, with what SQLite's own text leaves out. */
function explainedError(error: unknown, { refusal }: Connection): unknown {
  const isRefused = error instanceof Error && error.message === "not authorized";
  if (isRefused && refusal !== undefined)
    return new Error(`the handler may not run this statement: ${refusal}`, { cause: error });
  return isSystemError(error) ? new DatabaseErrorInHandler(error) : error;
}

/** All others change the connection that all events share, end it, or return what the guard does not see. */
const ALLOWED = ["prepare", "exec", "isOpen", "isTransaction", "location"];
const ALLOWED_OF_STATEMENTS = [
  "all",
  "get",
  "run",
  "iterate",
  "columns",
  "setReadBigInts",
  "setReturnArrays",
  "setAllowBareNamedParameters",
  "setAllowUnknownNamedParameters",
  "sourceSQL",
  "expandedSQL",
];

function guardedConnection(connection: Connection, transaction: HandlerTransaction): object {
  const { database } = connection;
  return guardConnection(database, transaction, {
    name: "connection",
    allowed: ALLOWED,
    call(method, args) {
      if (method !== "prepare") return undefined;
      // A new statement each time: no event meets the settings of another one's.
      const prepare = () => database.prepare(...(args as Parameters<typeof database.prepare>));
      const { value: statement, isWriting } = connection.compile(prepare);
      return guardedStatement(statement, transaction, isWriting);
    },
  });
}

function guardedStatement(statement: StatementSync, transaction: HandlerTransaction, isWriting: boolean) {
  const iterate = isWriting ? rowsOfAll : rowsOneByOne;
  return guardConnection(statement, transaction, {
    name: "statement",
    allowed: ALLOWED_OF_STATEMENTS,
    call: (method, args) =>
      method === "iterate" ? iterate(statement, args as SQLInputValue[], transaction) : undefined,
  });
}

/** At once: a writing statement in progress lets no savepoint begin, and its constraints are checked at its end. */
function rowsOfAll(statement: StatementSync, values: SQLInputValue[]): Iterator<unknown> {
  const rows = statement.all(...values);
  return (function* () {
    yield* rows;
  })();
}

const iterators = new WeakMap<HandlerTransaction, Set<Iterator<unknown>>>();

function rowsOneByOne(statement: StatementSync, values: SQLInputValue[], transaction: HandlerTransaction) {
  const rows = statement.iterate(...values);
  const open = getOrMake(iterators, transaction, () => new Set<Iterator<unknown>>()).add(rows);
  return (function* () {
    try {
      for (;;) {
        assertOpen(transaction, statement.sourceSQL);
        const { done, value } = rows.next();
        if (done) return;
        yield value;
      }
    } finally {
      open.delete(rows);
      rows.return?.();
    }
  })();
}

const drivers = new WeakMap<Connection, TransactionDriver>();

function driverOf(connection: Connection): TransactionDriver {
  return getOrMake(drivers, connection, () => ({
    dialect: "sqlite",
    sqlDialect: sqliteDialect,
    execute: (statement) => connection.execute(statement),
    connection: (transaction) => guardedConnection(connection, transaction),
  }));
}
