import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { backoffDelays, type Deadline } from "../retry-until.ts";
import { StoreError } from "../store-errors.ts";
import type { Connection } from "./connection.ts";
import { isConstraintError, toStoreError } from "./database-errors.ts";
import type { Flusher } from "./flusher.ts";
import { GroupTransaction } from "./group-transaction.ts";
import { WriterQueue, type WriterTask } from "./writer-queue.ts";

/** What a piece of work came to, and whether what it wrote shall stay. */
export interface TaskResult<T> {
  readonly value: T;
  readonly keep: boolean;
}

/** A group ends when it is this large, or this old: who is done must not wait long for who is not. */
const MOST_MEMBERS = 256;
const GROUP_MS = 20;

/** A task that ran. It may have read what others in the group wrote, so it is settled after the flush. */
interface FinishedTask {
  readonly member: WriterTask;
  settle(): void;
}

/**
 * SQLite has one writer, and a commit costs a flush of the disk whatever it holds. So what waits while a group is at
 * work shares the next transaction: each member runs in a savepoint of its own, one after the other, and is settled
 * after the commit and its flush. No task waits for a group to fill.
 */
export class Writer {
  readonly #transaction: GroupTransaction;
  readonly #flusher: Flusher;
  readonly #committed: () => void;
  readonly #queue = new WriterQueue();
  #working: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();
  #paused: Promise<unknown> | undefined;

  /** @param committed called after each commit */
  constructor(connection: Connection, flusher: Flusher, committed: () => void) {
    this.#transaction = new GroupTransaction(connection, flusher);
    this.#flusher = flusher;
    this.#committed = committed;
  }

  /**
   * Runs `work` in a transaction, and resolves after its commit. It may run again where its group was lost, so it has
   * no effect but on the database.
   * @throws what `work` threw, all of it undone; StoreError when the database could not do it before the deadline
   */
  submit<T>(
    eventKey: string,
    deadline: Deadline,
    work: () => Promise<TaskResult<T>> | TaskResult<T>,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let value: T;
      this.#queue.add({
        eventKey: eventKey,
        deadline,
        mustRunAlone: false,
        async run() {
          const worked = await work();
          value = worked.value;
          return worked.keep;
        },
        settle: () => resolve(value),
        fail: reject,
      });
      this.#working ??= this.#work();
    });
  }

  /** Resolves when nothing is left to do. */
  async drain(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
    // A failed flush rejects its own waiters; this only waits for the end.
    await this.#flusher.flush().catch(() => {});
  }

  /** Runs `during` between two groups; it delays all tasks, so it must be short. */
  async pause(during: () => Promise<unknown>): Promise<void> {
    const resting = this.#running.then(during);
    this.#paused = resting.catch(() => {});
    try {
      await resting;
    } finally {
      this.#paused = undefined;
    }
  }

  async #work(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        // Whatever has arrived by the end of this turn of the event loop is in the group.
        await nextTurn();
        if (this.#paused !== undefined) await this.#paused;
        this.#running = this.#group();
        await this.#running;
      }
    } finally {
      this.#working = undefined;
    }
  }

  /** Never rejects: a rejected group would stop the writer for good. */
  async #group(): Promise<void> {
    if (!(await this.#beginTransaction())) return;
    const done: FinishedTask[] = [];
    try {
      if (await this.#fill(done)) this.#close(done);
    } catch (cause) {
      this.#fail(done, this.#transaction.broken(cause));
    }
  }

  /** Runs the members; false when an error ended the transaction. @throws when that could not be rolled back */
  async #fill(done: FinishedTask[]): Promise<boolean> {
    const end = performance.now() + GROUP_MS;
    for (;;) {
      const member = this.#queue.next();
      if (member === undefined) break;
      await this.#run(member, done);
      if (!this.#transaction.isOpen) {
        this.#transactionLost(done);
        return false;
      }
      if (member.mustRunAlone || done.length >= MOST_MEMBERS || performance.now() >= end) break;
    }
    return true;
  }

  /** Begins the transaction when no other process holds the lock; returns false when the queue is empty. */
  async #beginTransaction(): Promise<boolean> {
    for (const pause of backoffDelays()) {
      if (this.#queue.length === 0) return false;
      try {
        const hindered = this.#transaction.begin();
        if (hindered === undefined) return true;
        this.#queue.lastBeginError = hindered;
        await sleep(pause);
      } catch (error) {
        this.#queue.failAll(error);
        return false;
      }
    }
    return false;
  }

  async #run(member: WriterTask, done: FinishedTask[]): Promise<void> {
    this.#queue.running.add(member.eventKey);
    try {
      this.#transaction.beginMember();
      this.#transaction.endMember(await member.run());
      done.push({ member, settle: () => member.settle() });
    } catch (error) {
      this.#queue.running.delete(member.eventKey);
      done.push({ member, settle: () => member.fail(toStoreError(error)) });
      this.#transaction.undoMember();
    }
  }

  #close(done: readonly FinishedTask[]): void {
    try {
      this.#transaction.commit();
    } catch (cause) {
      // Where it is not undone, the next process may find in the log what COMMIT wrote there.
      const isUndone = this.#transaction.rollBack();
      const reason = isUndone ? "commit_failed" : "commit_unknown";
      // A constraint that only COMMIT checks: one of them broke it, and the others shall not pay for it.
      if (isUndone && isConstraintError(cause) && done.length > 1) this.#requeue(done);
      else this.#fail(done, new StoreError(reason, "COMMIT was refused", cause));
      return;
    }
    this.#queue.running.clear();
    this.#committed();
    // The next group is at work while the disk takes this one.
    this.#flusher.flush().then(
      () => {
        for (const { settle } of done) settle();
      },
      (cause: unknown) =>
        this.#fail(done, new StoreError("commit_unknown", "the flush of COMMIT failed", cause)),
    );
  }

  #fail(done: readonly FinishedTask[], fault: StoreError): void {
    this.#queue.running.clear();
    for (const { member } of done) member.fail(fault);
  }

  /** After an error that ended the transaction. */
  #transactionLost(done: readonly FinishedTask[]): void {
    const [only, ...others] = done;
    if (others.length > 0) this.#requeue(done);
    else only?.settle();
  }

  /** What the others did is undone with what one of them did; each runs again, alone. */
  #requeue(done: readonly FinishedTask[]): void {
    this.#queue.running.clear();
    const members = done.map(({ member }) => member);
    for (const member of members) member.mustRunAlone = true;
    this.#queue.requeue(members);
  }
}
