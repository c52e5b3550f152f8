import pg from "pg";
import { withTimeout } from "../../../system/index.ts";
import { endHandlerTransaction, HandlerTransaction } from "../../handler-transaction.ts";
import type { Deadline } from "../../retry-until.ts";
import { beforeHandler, EventLocked, StoreError } from "../../store-errors.ts";
import type { Transaction, TransactionObserver } from "../../transaction.ts";
import { isReadOnlyServer, markPermanent, transientReason } from "../wire/database-errors.ts";
import type { WireStatement } from "../wire/message-writer.ts";
import { resetBeforeReuse, withClient } from "../wire/pool.ts";
import { RESET_ALL } from "../wire/pooled-connections.ts";
import { prepared } from "../wire/prepared-names.ts";
import { responseTimeout, sendBatch } from "../wire/statement.ts";
import { StatementBatch, type StatementResult } from "../wire/statement-batch.ts";
import { isForeignTransactionError } from "./event-statements.ts";
import { createUngroupedHandle } from "./handle.ts";

/** A rollback that does not answer in this time waits behind a statement that is still running. */
const ROLLBACK_TIMEOUT_MS = 500;

export const BEGIN = prepared("BEGIN");
const COMMIT = prepared("COMMIT");
const ROLLBACK = prepared("ROLLBACK");
const locked = (cause: unknown) => new EventLocked("another delivery holds the event's record", { cause });
/**
 * A handler, a function or a trigger may have left these for the rest of the session, beyond a savepoint. Before the
 * completion, so that COMMIT waits for the disk, and this role writes the record.
 */
export const RESET_SESSION: readonly WireStatement[] = [
  prepared("RESET ROLE"),
  RESET_ALL,
  prepared("DISCARD TEMP"),
  prepared("CLOSE ALL"),
  prepared("UNLISTEN *"),
];
/** Behind the end of a transaction: a lock of the session may guard what COMMIT makes visible. */
const UNLOCK = prepared("SELECT pg_advisory_unlock_all()");
const MIN_TIMEOUT_MS = 500;
const ANSWER_MS = 100;

const ENDED_INSIDE =
  "the transaction was ended inside the handler, and another one was started: what it committed stays, the rest was " +
  "rolled back; leave the commit to Oncehook";

export interface TransactionLimits {
  readonly deadline: Deadline;
  /** When the answer to COMMIT is given up; default: at the deadline. */
  readonly commitDeadline?: Deadline;
  readonly lockTimeoutMs: number;
  readonly observer?: TransactionObserver | undefined;
}

export interface OpenTransaction {
  readonly tx: Transaction;
  readonly client: pg.ClientBase;
  readonly transaction: HandlerTransaction;
}

export interface TransactionWork<T> {
  /** Sent with BEGIN, in one round trip. */
  readonly opening?: readonly WireStatement[];
  /** @param opened the answers to `opening` */
  readonly run: (open: OpenTransaction, opened: readonly StatementResult[]) => Promise<T>;
  /** The statements that go with COMMIT in one round trip, or the order to roll back. */
  readonly closing: (value: T) => readonly WireStatement[] | "rollback";
}

/** On a connection of its own. @throws what `run` threw, after the rollback; StoreError as `commit` does */
export async function inTransaction<T>(
  pool: pg.Pool,
  limits: TransactionLimits,
  { opening = [], run, closing }: TransactionWork<T>,
): Promise<T> {
  return withClient(pool, limits.deadline, async (client) => {
    const transaction = new HandlerTransaction(() => client.getTransactionStatus() !== "I", limits.observer);
    const begin = beginStatements(limits);
    try {
      const sent = [...begin, ...opening];
      // Over a connection that is dead without a word there is no answer; another one may still be in time.
      const answerMs = Math.min(responseTimeout(limits.lockTimeoutMs), timeLeft(limits.deadline));
      const answers = await beforeHandler(() => sendBatch(client, sent, answerMs), locked);
      const open = { tx: createUngroupedHandle(client, transaction), client, transaction };
      const value = await run(open, answers.slice(begin.length));
      endHandlerTransaction(transaction);
      const last = closing(value);
      // Nothing responds 200 before this COMMIT: `handleSingle` resolves after it.
      if (last === "rollback") await sendBatch(client, [ROLLBACK, UNLOCK]);
      else await commit(client, last, timeLeft(limits.commitDeadline ?? limits.deadline));
      return value;
    } catch (error) {
      transaction.isOpen = false;
      await rollback(client);
      throw error;
    }
  });
}

/** Milliseconds in which the last answer before a deadline may come. */
export function timeLeft(deadline: Deadline): number {
  return Math.max(MIN_TIMEOUT_MS, deadline - performance.now());
}

/** Near the deadline the lock timeout is the time left, less the answer's: it says what holds the lock. */
function beginStatements({ deadline, lockTimeoutMs }: TransactionLimits): WireStatement[] {
  const remaining = Math.max(1, Math.ceil(deadline - performance.now() - ANSWER_MS));
  return remaining < lockTimeoutMs ? [BEGIN, { text: `SET LOCAL lock_timeout = ${remaining}` }] : [BEGIN];
}

/**
 * Sends the last statements and COMMIT in one round trip.
 * @throws StoreError `commit_unknown` where the outcome of COMMIT is unknown, `commit_failed` where it was refused for good.
 *   Any other error means that it did not happen and may be tried again
 */
export async function commit(client: pg.ClientBase, last: readonly WireStatement[], limitMs?: number): Promise<void> {
  const closing = new StatementBatch([...last, COMMIT, UNLOCK]);
  try {
    await sendBatch(client, closing, limitMs);
  } catch (cause) {
    // The server skipped what stands behind the error.
    resetBeforeReuse(client);
    // An error behind the answer to COMMIT takes nothing back.
    if (closing.results.length <= last.length) throw commitError(client, closing, last, cause);
  }
  // PostgreSQL answers the COMMIT of a transaction with a failed statement with ROLLBACK, not with an error.
  if (closing.results[last.length]?.command !== "COMMIT") {
    throw new Error("a statement of the handler failed and its error was swallowed: PostgreSQL rolled back");
  }
}

function commitError(client: pg.ClientBase, closing: StatementBatch, last: readonly WireStatement[], cause: unknown) {
  if (!closing.isSent) return cause;
  // Answers come in order: a statement before COMMIT that was refused kept the server from ever coming to it.
  if (cause instanceof pg.DatabaseError && closing.results.length < last.length) {
    if (isForeignTransactionError(cause)) return new Error(ENDED_INSIDE, { cause });
    return isReadOnlyServer(cause) ? markPermanent(cause) : cause;
  }
  // If BEGIN went with COMMIT, the status from before them looks like that of a refused COMMIT.
  const isRefused = cause instanceof pg.DatabaseError && closing.isReady && client.getTransactionStatus() === "I";
  if (!isRefused) return new StoreError("commit_unknown", "the answer to COMMIT was lost", cause);
  // A refused COMMIT has rolled back for certain, and a serialization failure may be tried again.
  return transientReason(cause) === undefined ? new StoreError("commit_failed", "COMMIT was refused", cause) : cause;
}

export async function rollback(client: pg.ClientBase): Promise<void> {
  if (client.getTransactionStatus() === "I") return;
  // When it fails or is late, the transaction's state keeps the connection out of the pool.
  const rolledBack = sendBatch(client, [ROLLBACK, UNLOCK]).catch(() => {});
  await withTimeout(rolledBack, ROLLBACK_TIMEOUT_MS, undefined);
}
