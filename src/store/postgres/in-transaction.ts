import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import {
  assertKeepsTransaction,
  type GuardRules,
  guarded,
  type Lending,
  newLending,
  takeBack,
} from "../guarded.ts";
import { LentTransaction } from "../lend.ts";
import type { Deadline, Transaction } from "../store.ts";
import { StoreFault } from "../store-fault.ts";
import { passing } from "./hindrance.ts";
import { withClient } from "./pool.ts";
import { postgresSpelling } from "./spelling.ts";
import { ask, executeOn } from "./statement.ts";

/** A rollback that does not answer in this time waits behind a statement that is still running. */
const ROLLBACK_PATIENCE_MS = 500;

export interface TransactionLimits {
  readonly deadline: Deadline;
  readonly lockTimeoutMs: number;
}

/**
 * The one place that begins, commits and rolls back on PostgreSQL, on a connection of its own.
 * @throws whatever `run` threw, after the rollback; StoreFault `commit_failed` when COMMIT did not answer well
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  limits: TransactionLimits,
  run: (tx: Transaction, client: pg.ClientBase, lending: Lending) => Promise<T>,
  endsIn: (value: T) => "commit" | "rollback",
): Promise<T> {
  return withClient(pool, limits.deadline, async (client) => {
    const lending = newLending(() => client.getTransactionStatus() !== "I");
    await ask(client, { text: beginStatement(limits) });
    try {
      const value = await run(lent(client, lending), client, lending);
      takeBack(lending);
      if (endsIn(value) === "commit") await commit(client);
      else await client.query("ROLLBACK");
      return value;
    } catch (error) {
      lending.open = false;
      await rollback(client);
      throw error;
    }
  });
}

/** Near the deadline a lock may be waited for only as long as somebody still waits for the answer. */
function beginStatement({ deadline, lockTimeoutMs }: TransactionLimits): string {
  const remaining = Math.max(1, Math.ceil(deadline - performance.now()));
  return remaining < lockTimeoutMs ? `BEGIN; SET LOCAL lock_timeout = ${remaining}` : "BEGIN";
}

async function commit(client: pg.ClientBase): Promise<void> {
  let command: string;
  try {
    ({ command } = await ask(client, { text: "COMMIT" }));
  } catch (cause) {
    // A refused COMMIT has rolled back for certain, and a serialization failure may be tried again.
    if (passing(cause) !== undefined && client.getTransactionStatus() === "I") throw cause;
    throw new StoreFault("commit_failed", "COMMIT failed, or its answer was lost", cause);
  }
  // PostgreSQL answers the COMMIT of a transaction with a failed statement with ROLLBACK, not with an error.
  if (command !== "COMMIT") {
    throw new Error("a statement of the handler failed and its error was swallowed: PostgreSQL rolled back");
  }
}

async function rollback(client: pg.ClientBase): Promise<void> {
  if (client.getTransactionStatus() === "I") return;
  const cancelled = new AbortController();
  const late = sleep(ROLLBACK_PATIENCE_MS, undefined, { signal: cancelled.signal }).catch(() => {});
  // When it fails or is late, the transaction's state keeps the connection out of the pool.
  await Promise.race([client.query("ROLLBACK").catch(() => {}), late]);
  cancelled.abort();
}

/** `SET x`, but not `SET LOCAL x`, SET CONSTRAINTS or SET TRANSACTION. */
const SETS_SESSION = /^\s*(?:set(?!\s+(?:local|constraints|transaction)\b)|reset|discard)\b/i;

const RULES: GuardRules = {
  check(method, args) {
    if (typeof args.at(-1) === "function") {
      throw new TypeError(`${String(method)}() with a callback cannot be waited for: await what it returns`);
    }
    if (method === "release" || method === "end") {
      throw new TypeError(`the handler may not call ${method}() of the connection; Oncehook gives it back`);
    }
    const [statement] = args;
    const text =
      typeof statement === "string" ? statement : (statement as { text?: unknown } | undefined)?.text;
    assertKeepsSession(text);
  },
};

/** A setting would stay on the connection for the events after this one. */
function assertKeepsSession(text: unknown): void {
  if (typeof text !== "string" || !SETS_SESSION.test(text)) return;
  throw new Error(
    `the handler may not run "${text.trim().slice(0, 40)}": use SET LOCAL, which ends with the transaction`,
  );
}

function lent(client: pg.ClientBase, lending: Lending): Transaction {
  return new LentTransaction(lending, {
    dialect: "postgres",
    spelling: postgresSpelling,
    assertAllowed(sql) {
      assertKeepsTransaction(sql);
      assertKeepsSession(sql);
    },
    execute: (statement) => executeOn(client, statement),
    driver: () => guarded(client, lending, RULES),
  });
}
