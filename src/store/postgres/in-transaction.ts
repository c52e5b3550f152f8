import pg from "pg";
import { type Lending, newLending, takeBack } from "../guarded.ts";
import type { Deadline, Transaction, TransactionWatch } from "../store.ts";
import { StoreFault } from "../store-fault.ts";
import { unlessLate } from "../unless-late.ts";
import { type Answer, Exchange, type Sent } from "./exchange.ts";
import { isLockTimeout, isReadOnlyServer, lasting, passing } from "./hindrance.ts";
import { lent } from "./lent.ts";
import { resetBeforeReuse, withClient } from "./pool.ts";
import { isOfAnotherTransaction } from "./records.ts";
import { exchange } from "./statement.ts";

/** A rollback that does not answer in this time waits behind a statement that is still running. */
const ROLLBACK_PATIENCE_MS = 500;

export const BEGIN: Sent = { name: "oncehook_begin", text: "BEGIN" };
const COMMIT: Sent = { name: "oncehook_commit", text: "COMMIT" };
const ROLLBACK: Sent = { name: "oncehook_rollback", text: "ROLLBACK" };
/**
 * What a handler, a function or a trigger may have left for the rest of the session, which outlives a savepoint too. Before
 * the completion, so that COMMIT waits for the disk, and this role writes the record.
 */
export const RESETS: readonly Sent[] = [
  { name: "oncehook_reset_role", text: "RESET ROLE" },
  { name: "oncehook_reset", text: "RESET ALL" },
  { name: "oncehook_discard_temp", text: "DISCARD TEMP" },
  { name: "oncehook_close", text: "CLOSE ALL" },
  { name: "oncehook_unlisten", text: "UNLISTEN *" },
];
/** Behind the end of a transaction: a lock of the session may guard what COMMIT makes visible. */
const UNLOCK: Sent = { name: "oncehook_unlock", text: "SELECT pg_advisory_unlock_all()" };
/** An answer may be overdue for so long, beyond what the server itself allows a statement. */
const SILENCE_MS = 2_000;
const LEAST_MS = 500;

const ENDED_INSIDE =
  "the transaction was ended inside the handler, and another one begun: what was committed by it stays, the rest was " +
  "rolled back; leave the commit to Oncehook";

export interface TransactionLimits {
  readonly deadline: Deadline;
  readonly lockTimeoutMs: number;
  readonly watch?: TransactionWatch | undefined;
}

export interface Opened {
  readonly tx: Transaction;
  readonly client: pg.ClientBase;
  readonly lending: Lending;
}

export interface Work<T> {
  /** Sent with BEGIN, in one round trip. */
  readonly opening?: readonly Sent[];
  /** What to throw when the opening was refused with a lock timeout. */
  readonly locked?: (cause: unknown) => Error;
  /** @param opened the answers to `opening` */
  readonly run: (open: Opened, opened: readonly Answer[]) => Promise<T>;
  /** What is sent with COMMIT, in one round trip; or that nothing shall stay. */
  readonly closing: (value: T) => readonly Sent[] | "rollback";
}

/**
 * A transaction of its own, on a connection of its own.
 * @throws whatever `run` threw, after the rollback; StoreFault `commit_failed` when COMMIT did not answer well
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  limits: TransactionLimits,
  { opening = [], locked, run, closing }: Work<T>,
): Promise<T> {
  return withClient(pool, limits.deadline, async (client) => {
    const lending = newLending(() => client.getTransactionStatus() !== "I", limits.watch);
    const begin = beginning(limits);
    try {
      const sent = [...begin, ...opening];
      const answers = await exchange(client, sent, patienceOf(limits)).catch((error: unknown) => {
        throw locked !== undefined && isLockTimeout(error) ? locked(error) : error;
      });
      const open = { tx: lent(client, lending), client, lending };
      const value = await run(open, answers.slice(begin.length));
      takeBack(lending);
      const last = closing(value);
      if (last === "rollback") await exchange(client, [ROLLBACK, UNLOCK]);
      else await commit(client, last, Math.max(LEAST_MS, limits.deadline - performance.now()));
      return value;
    } catch (error) {
      lending.open = false;
      await rollback(client);
      throw error;
    }
  });
}

/** Over a connection that is dead without a word there is no answer; another one may still be in time. */
function patienceOf({ deadline, lockTimeoutMs }: TransactionLimits): number {
  return Math.max(LEAST_MS, Math.min(lockTimeoutMs + SILENCE_MS, deadline - performance.now()));
}

/** Near the deadline a lock may be waited for only as long as somebody still waits for the answer. */
function beginning({ deadline, lockTimeoutMs }: TransactionLimits): Sent[] {
  const remaining = Math.max(1, Math.ceil(deadline - performance.now()));
  return remaining < lockTimeoutMs ? [BEGIN, { text: `SET LOCAL lock_timeout = ${remaining}` }] : [BEGIN];
}

/**
 * Sends the last statements and COMMIT in one round trip.
 * @throws StoreFault `commit_unknown` where nobody knows whether it happened, `commit_failed` where it was refused for
 *   good; any other error means that it did not happen and may be tried again
 */
export async function commit(client: pg.ClientBase, last: readonly Sent[], limitMs?: number): Promise<void> {
  const closing = new Exchange([...last, COMMIT, UNLOCK]);
  try {
    await exchange(client, closing, limitMs);
  } catch (cause) {
    // The server skipped what stands behind the error.
    resetBeforeReuse(client);
    // An error behind the answer to COMMIT takes nothing back.
    if (closing.answers.length <= last.length) throw refusal(client, closing, last, cause);
  }
  // PostgreSQL answers the COMMIT of a transaction with a failed statement with ROLLBACK, not with an error.
  if (closing.answers[last.length]?.command !== "COMMIT") {
    throw new Error("a statement of the handler failed and its error was swallowed: PostgreSQL rolled back");
  }
}

function refusal(client: pg.ClientBase, closing: Exchange, last: readonly Sent[], cause: unknown): unknown {
  if (!closing.isSent) return cause;
  // Answers come in order: a statement before COMMIT that was refused kept the server from ever coming to it.
  if (cause instanceof pg.DatabaseError && closing.answers.length < last.length) {
    if (isOfAnotherTransaction(cause)) return new Error(ENDED_INSIDE, { cause });
    return isReadOnlyServer(cause) ? lasting(cause) : cause;
  }
  // A refused COMMIT has rolled back for certain, and a serialization failure may be tried again.
  if (passing(cause) !== undefined && client.getTransactionStatus() === "I") return cause;
  // What the server itself refused did not happen; of anything else nobody can tell.
  return cause instanceof pg.DatabaseError && client.getTransactionStatus() === "I"
    ? new StoreFault("commit_failed", "COMMIT was refused", cause)
    : new StoreFault("commit_unknown", "the answer to COMMIT was lost", cause);
}

export async function rollback(client: pg.ClientBase): Promise<void> {
  if (client.getTransactionStatus() === "I") return;
  // When it fails or is late, the transaction's state keeps the connection out of the pool.
  const rolledBack = exchange(client, [ROLLBACK, UNLOCK]).catch(() => {});
  await unlessLate(rolledBack, ROLLBACK_PATIENCE_MS, undefined);
}
