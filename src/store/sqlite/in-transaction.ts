import { StatementSync } from "node:sqlite";
import {
  assertKeepsTransaction,
  assertOpen,
  type GuardRules,
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
  }
}

function explained(error: unknown, refusal: string | undefined): unknown {
  const isRefused = error instanceof Error && error.message === "not authorized";
  return isRefused && refusal !== undefined
    ? new Error(`the handler may not run this statement: ${refusal}`, { cause: error })
    : error;
}

/** They would end the connection for everybody, or hand out what the guard does not see. */
const NOT_FOR_HANDLERS: ReadonlySet<string | symbol> = new Set([
  "close",
  "open",
  Symbol.dispose,
  "createTagStore",
  "setAuthorizer",
]);

const RULES: GuardRules = {
  isLentOn: (value) => value instanceof StatementSync,
  check(method, args) {
    if (!NOT_FOR_HANDLERS.has(method)) return args;
    throw new TypeError(
      `the handler may not call ${String(method)}() of the connection; use prepare() or exec()`,
    );
  },
};

const lenders = new WeakMap<Connection, Lender>();

function lenderOf(connection: Connection): Lender {
  let lender = lenders.get(connection);
  if (lender === undefined) {
    lender = {
      dialect: "sqlite",
      spelling: sqliteSpelling,
      assertAllowed: assertKeepsTransaction,
      execute: (statement) => connection.execute(statement),
      driver: (lending) => guarded(connection.database, lending, RULES),
    };
    lenders.set(connection, lender);
  }
  return lender;
}
