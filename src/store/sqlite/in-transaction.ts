import { StatementSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { bindQuery } from "../bound-query.ts";
import {
  assertKeepsTransaction,
  counted,
  type GuardRules,
  guarded,
  type Lending,
  newLending,
  takeBack,
} from "../guarded.ts";
import { withPatience } from "../patience.ts";
import type { Deadline, OpenQuery, Transaction } from "../store.ts";
import { FaultInRun, StoreFault } from "../store-fault.ts";
import type { Connection } from "./connection.ts";
import { busy, isMachineTrouble } from "./hindrance.ts";
import { sqliteSpelling } from "./spelling.ts";

/**
 * The one place that begins, commits and rolls back on SQLite. BEGIN IMMEDIATE takes the write lock at once: a
 * transaction that read first and wrote later could be refused in the middle.
 * @throws whatever `run` threw, after the rollback; StoreFault when the database could not
 */
export async function inTransaction<T>(
  connection: Connection,
  deadline: Deadline,
  run: (tx: Transaction, lending: Lending) => Promise<T>,
  endsIn: (value: T) => "commit" | "rollback",
): Promise<T> {
  await withPatience(deadline, () => connection.database.exec("BEGIN IMMEDIATE"), busy);
  const lending = newLending(() => connection.database.isTransaction);
  try {
    const value = await connection.lent(() => run(lend(connection, lending), lending));
    takeBack(lending);
    if (endsIn(value) === "commit") commit(connection);
    else rollback(connection);
    return value;
  } catch (error) {
    lending.open = false;
    rollback(connection);
    if (!(error instanceof FaultInRun) && !isMachineTrouble(error)) throw error;
    throw new StoreFault(
      "unavailable",
      "the database cannot write: check its disk and its permissions",
      error,
    );
  }
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
  check(method) {
    if (!NOT_FOR_HANDLERS.has(method)) return;
    throw new TypeError(
      `the handler may not call ${String(method)}() of the connection; use prepare() or exec()`,
    );
  },
};

function lend(connection: Connection, lending: Lending): Transaction {
  let query: Kysely<unknown> | undefined;
  return {
    dialect: "sqlite",
    // Built on first use: a handler that writes plain SQL, or nothing, does not pay for it.
    get query(): OpenQuery {
      query ??= bindQuery(sqliteSpelling, (compiled) => {
        assertKeepsTransaction(compiled.sql);
        return counted(lending, () => connection.execute(compiled));
      });
      return query;
    },
    connection: guarded(connection.database, lending, RULES),
  };
}

function commit(connection: Connection): void {
  try {
    connection.database.exec("COMMIT");
  } catch (cause) {
    throw new StoreFault("commit_failed", "COMMIT failed", cause);
  }
}

/** Some errors end the transaction by themselves (https://sqlite.org/lang_transaction.html, part 3). */
function rollback(connection: Connection): void {
  if (connection.database.isTransaction) connection.database.exec("ROLLBACK");
}
