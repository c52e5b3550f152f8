import type { SQLInputValue, StatementSync } from "node:sqlite";
import {
  assertKeepsTransaction,
  assertOpen,
  guarded,
  type Lending,
  newLending,
  takeBackFinally,
} from "../guarded.ts";
import { type Lender, lendTransaction } from "../lend.ts";
import { withPatience } from "../patience.ts";
import type { Deadline, Transaction, TransactionWatch } from "../store.ts";
import type { Connection } from "./connection.ts";
import { busy, unavailableWhereTroubled } from "./hindrance.ts";
import { sqliteSpelling } from "./spelling.ts";

/**
 * A transaction of its own, for the schema: nothing else is at work yet.
 * @throws whatever `run` threw, after the rollback; StoreFault when the database could not
 */
export async function inTransaction<T>(
  connection: Connection,
  deadline: Deadline,
  run: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const { database } = connection;
  await withPatience(deadline, () => database.exec("BEGIN IMMEDIATE"), busy);
  try {
    const value = await lending(connection, run);
    database.exec("COMMIT");
    return value;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw unavailableWhereTroubled(error);
  }
}

/** Lends the open transaction, and takes it back before anything else happens to it. */
export async function lending<T>(
  connection: Connection,
  run: (tx: Transaction, lending: Lending) => Promise<T>,
  watch?: TransactionWatch,
): Promise<T> {
  const lending = newLending(() => connection.database.isTransaction, watch);
  connection.isLent = true;
  try {
    const value = await run(lendTransaction(lending, lenderOf(connection)), lending);
    // Where the transaction is gone, what follows would commit by itself, one statement at a time.
    assertOpen(lending);
    await takeBackFinally(lending);
    return value;
  } catch (error) {
    throw explained(error, connection.refusal);
  } finally {
    connection.isLent = false;
    connection.refusal = undefined;
    lending.open = false;
    finishIterators(lending);
  }
}

function explained(error: unknown, refusal: string | undefined): unknown {
  const isRefused = error instanceof Error && error.message === "not authorized";
  return isRefused && refusal !== undefined
    ? new Error(`the handler may not run this statement: ${refusal}`, { cause: error })
    : error;
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

function guardedConnection(connection: Connection, lending: Lending): object {
  const { database } = connection;
  return guarded(database, lending, {
    name: "connection",
    allowed: ALLOWED,
    call(method, args) {
      if (method !== "prepare") return undefined;
      connection.hasCompiledWrite = false;
      // A new statement each time: no event meets the settings of another one's.
      const statement = database.prepare(...(args as Parameters<typeof database.prepare>));
      return guardedStatement(statement, lending, connection.hasCompiledWrite);
    },
  });
}

function guardedStatement(statement: StatementSync, lending: Lending, isWriting: boolean): StatementSync {
  const iterate = isWriting ? rowsOfAll : rowsOneByOne;
  return guarded(statement, lending, {
    name: "statement",
    allowed: ALLOWED_OF_STATEMENTS,
    call: (method, args) =>
      method === "iterate" ? iterate(statement, args as SQLInputValue[], lending) : undefined,
  });
}

/**
 * A writing statement in progress lets no savepoint begin, and its constraints are checked at its end. So it runs to its end
 * at once.
 */
function rowsOfAll(statement: StatementSync, values: SQLInputValue[]): Iterator<unknown> {
  const rows = statement.all(...values);
  return (function* () {
    yield* rows;
  })();
}

/** What each handler reads row by row. */
const iterators = new WeakMap<Lending, Set<Iterator<unknown>>>();

function rowsOneByOne(
  statement: StatementSync,
  values: SQLInputValue[],
  lending: Lending,
): Iterator<unknown> {
  const rows = statement.iterate(...values);
  const open = iterators.get(lending) ?? new Set();
  iterators.set(lending, open.add(rows));
  return (function* () {
    try {
      for (;;) {
        assertOpen(lending, statement.sourceSQL);
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

/** Left in progress, a statement would keep the connection's snapshot of the database. */
function finishIterators(lending: Lending): void {
  for (const rows of iterators.get(lending) ?? []) rows.return?.();
}

const lenders = new WeakMap<Connection, Lender>();

function lenderOf(connection: Connection): Lender {
  let lender = lenders.get(connection);
  if (lender === undefined) {
    lender = {
      dialect: "sqlite",
      spelling: sqliteSpelling,
      assertAllowed: assertKeepsTransaction,
      execute: (statement) => connection.execute(statement),
      driver: (lending) => guardedConnection(connection, lending),
    };
    lenders.set(connection, lender);
  }
  return lender;
}
