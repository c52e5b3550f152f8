import type { StatementSync } from "node:sqlite";
import { StoreError } from "../store-errors.ts";
import { type Connection, MEMBER_SAVEPOINT } from "./connection.ts";
import { isBusyAtBegin, isSystemError, toStoreError, transientReason } from "./database-errors.ts";
import type { Flusher } from "./flusher.ts";
import { insertOriginals } from "./insert-originals.ts";
import type { WriterTask } from "./writer-queue.ts";

/** Long enough for a burst of failing events, short enough that one of them costs little. */
const SAVEPOINTS_MS = 1_000;
const NOT_ENDED = "a transaction could not be rolled back; check the disk and restart";
const UNUSABLE = "the connection that writes takes no transaction or savepoint any more; restart";

/**
 * `next`: another member may share the transaction; `last`: a savepoint or PRAGMA of this one lasts until COMMIT; `undo all`:
 * only a ROLLBACK undoes its writes, which must not stay.
 */
export type GoesOn = "next" | "last" | "undo all";

/**
 * The transaction of a group. It is optimistic, without savepoints, until a member fails after it has written. Then the group
 * runs again, and the groups of the next second run, with a savepoint for each member. An error that would come back at each
 * event breaks the store.
 */
export class GroupTransaction {
  readonly #connection: Connection;
  readonly #flusher: Flusher;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #undo: StatementSync;
  #savepointsUntil = 0;
  #hasSavepoints = false;

  constructor(connection: Connection, flusher: Flusher) {
    this.#connection = connection;
    this.#flusher = flusher;
    const { database } = connection;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#savepoint = database.prepare(`SAVEPOINT ${MEMBER_SAVEPOINT}`);
    this.#release = database.prepare(`RELEASE ${MEMBER_SAVEPOINT}`);
    this.#undo = database.prepare(`ROLLBACK TO ${MEMBER_SAVEPOINT}`);
  }

  /** Some errors end the transaction by themselves (https://sqlite.org/lang_transaction.html, part 3). */
  get isOpen(): boolean {
    return this.#connection.database.isTransaction;
  }

  /** @returns what keeps the lock for now @throws StoreError: none begins any more, or until the machine is well */
  begin(): unknown {
    this.#flusher.assertIntact();
    this.#hasSavepoints = performance.now() < this.#savepointsUntil;
    try {
      // IMMEDIATE takes the write lock at once: a transaction that reads first could fail at its first write.
      this.#begin.run();
      return undefined;
    } catch (error) {
      if (isBusyAtBegin(error)) return error;
      throw this.#unusableUnlessTroubled(error);
    }
  }

  /** Those of members that were kept. @throws the driver's error, where it ended the transaction */
  keepOriginals(members: readonly { readonly task: WriterTask; readonly failure?: unknown }[]): void {
    const kept = members.flatMap(({ task, failure }) => (failure === undefined && task.kept) || []);
    if (kept.length > 0) insertOriginals(this.#connection, kept);
  }

  /** @throws the driver's error */
  commit(): void {
    this.#commit.run();
  }

  /** The lock is taken already, so that only a statement in progress makes a savepoint busy. @throws StoreError */
  beginMember(): void {
    this.#connection.hasWritten = false;
    this.#connection.outlivesMember = false;
    if (!this.#hasSavepoints) return;
    try {
      this.#savepoint.run();
    } catch (cause) {
      throw this.#unusableUnlessTroubled(cause);
    }
  }

  /** @throws the driver's error */
  endMember(keep: boolean): GoesOn {
    if (this.#hasSavepoints) {
      if (!keep) this.#undo.run();
      this.#release.run();
    } else if (!keep && this.#connection.hasWritten) return "undo all";
    return this.#connection.outlivesMember ? "last" : "next";
  }

  /** From here on, for a second, each member gets a savepoint. */
  requireSavepoints(): void {
    this.#savepointsUntil = performance.now() + SAVEPOINTS_MS;
  }

  /** If it cannot be undone by itself, its group is. @throws StoreError if that leaves no usable connection */
  undoMember(): GoesOn {
    if (!this.isOpen) return "undo all";
    try {
      return this.endMember(false);
    } catch (cause) {
      // Within a transaction nothing but a statement in progress is busy, and the next savepoint would meet it again.
      if (this.rollBack() && transientReason(cause) !== undefined) this.#flusher.markFailed(cause, UNUSABLE);
      this.#flusher.assertIntact();
      return "undo all";
    }
  }

  /** False where the transaction is still open, which breaks the store. */
  rollBack(): boolean {
    const { database } = this.#connection;
    try {
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch (cause) {
      if (database.isOpen && !database.isTransaction) return true;
      this.broken(cause);
      return false;
    }
    return true;
  }

  /** Rolls back after a COMMIT that was refused. @returns what that means for the events of the group */
  commitError(cause: unknown): StoreError {
    // If it is not undone, the next process may find in the WAL what COMMIT wrote there.
    if (!this.rollBack()) return new StoreError("commit_unknown", "COMMIT was refused", cause);
    // Nothing but a statement in progress is busy here, and the next BEGIN would meet it again.
    if (transientReason(cause) !== undefined) return this.#flusher.markFailed(cause, UNUSABLE);
    return new StoreError("commit_failed", "COMMIT was refused", cause);
  }

  /** An error after which it is unknown whether the transaction is still open. */
  broken(cause: unknown): StoreError {
    return this.#flusher.markFailed(cause, NOT_ENDED);
  }

  #unusableUnlessTroubled(cause: unknown): unknown {
    return isSystemError(cause) ? toStoreError(cause) : this.#flusher.markFailed(cause, UNUSABLE);
  }
}
