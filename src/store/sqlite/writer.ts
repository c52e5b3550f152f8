import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { LinkedList } from "../../system/index.ts";
import { backoffDelays, type Deadline } from "../retry-until.ts";
import { StoreError } from "../store-errors.ts";
import type { Connection } from "./connection.ts";
import { isConstraintError, toStoreError } from "./database-errors.ts";
import type { Flusher } from "./flusher.ts";
import { type GoesOn, GroupTransaction } from "./group-transaction.ts";
import { WriterQueue, type WriterTask } from "./writer-queue.ts";

/** A group starts no further member at this size or age: finished members wait for the commit. */
const MAX_GROUP_SIZE = 256;
const MAX_GROUP_AGE_MS = 20;

/** A task that may wait starts a group by itself after this time. */
const JOIN_WITHIN_MS = 10;

/** How often slow flushes are looked for. */
const SLOW_FLUSH_MS = 500;
const FLUSH_TOO_SLOW = "the flush of COMMIT was still running at the deadline; check the disk";

/** A task that ran. It may have read what others in the group wrote, so its result is reported after the flush. */
interface FinishedTask {
  readonly task: WriterTask;
  readonly failure?: { readonly error: unknown };
}

/** A group that is committed, and that the disk is to take. A member whose deadline passes meanwhile leaves it. */
interface FlushingGroup {
  done: readonly FinishedTask[];
  readonly since: number;
}

/**
 * SQLite has one writer, and a commit costs a flush of the disk whatever it holds. So the tasks that wait while a group is at
 * work share the next transaction. Its members run one after the other, and report their results after the commit and its
 * flush. No task waits for a group to fill.
 */
export class Writer {
  readonly #transaction: GroupTransaction;
  readonly #flusher: Flusher;
  readonly #committed: () => void;
  readonly #queue = new WriterQueue();
  readonly #flushing = new LinkedList<FlushingGroup>();
  /** Tasks that may wait, until the next group takes them. */
  readonly #joining: WriterTask[] = [];
  #joinTimer: NodeJS.Timeout | undefined;
  #slowFlushTimer: NodeJS.Timeout | undefined;
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
   * @param options `mayWait`: no response waits for it, so it shares the commit and the flush of the next group
   * @throws what `work` threw, all of it undone; StoreError when the database could not do it before the deadline
   */
  submit<T>(eventKey: string, deadline: Deadline, work: () => Promise<T> | T, { mayWait = false } = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let value: T;
      const task: WriterTask = {
        eventKey,
        deadline,
        needsOwnTransaction: false,
        async run() {
          value = await work();
          return true;
        },
        settle: () => resolve(value),
        fail: reject,
      };
      if (mayWait) this.#join(task);
      else this.add(task);
    });
  }

  /** The same for a task that is an object already. */
  add(task: WriterTask): void {
    this.#queue.add(task);
    this.#working ??= this.#work();
  }

  async drain(): Promise<void> {
    this.#startJoining();
    while (this.#working !== undefined) await this.#working;
    // A failed flush rejects its own waiters; this only waits for the end.
    await this.#flusher.flush().catch(() => {});
  }

  /** Runs `during` between two groups; it delays all tasks, so it must be short. */
  async pause(during: () => Promise<unknown>): Promise<void> {
    const pausing = this.#running.then(during);
    this.#paused = pausing.catch(() => {});
    try {
      await pausing;
    } finally {
      this.#paused = undefined;
    }
  }

  /** A flush for such tasks only would delay the flush of the next group of events. */
  #join(task: WriterTask): void {
    this.#joining.push(task);
    this.#joinTimer ??= setTimeout(() => this.#startJoining(), JOIN_WITHIN_MS);
  }

  #startJoining(): void {
    this.#takeJoining();
    if (this.#queue.length > 0) this.#working ??= this.#work();
  }

  #takeJoining(): void {
    clearTimeout(this.#joinTimer);
    this.#joinTimer = undefined;
    for (const task of this.#joining.splice(0)) this.#queue.add(task);
  }

  async #work(): Promise<void> {
    try {
      // A task added by the end of this microtask is in the group: so are the events of one look-up.
      await undefined;
      while (this.#queue.length > 0) {
        if (this.#paused !== undefined) await this.#paused;
        this.#takeJoining();
        this.#running = this.#group();
        await this.#running;
        if (this.#queue.length > 0) await nextTurn();
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
      if (await this.#runTasks(done)) this.#commit(done);
      else this.#runAgain(done);
    } catch (cause) {
      this.#fail(done, this.#transaction.broken(cause));
    }
  }

  /** Runs the members. @returns whether the group can be committed @throws where it is unknown what was rolled back */
  async #runTasks(done: FinishedTask[]): Promise<boolean> {
    const end = performance.now() + MAX_GROUP_AGE_MS;
    for (let task = this.#queue.next(); task !== undefined; task = this.#queue.next()) {
      this.#queue.running.set(task.eventKey, true);
      let goesOn: GoesOn;
      try {
        this.#transaction.beginMember();
        goesOn = this.#transaction.endMember(await task.run());
        done.push({ task });
      } catch (error) {
        this.#queue.running.delete(task.eventKey);
        done.push({ task, failure: { error } });
        goesOn = this.#transaction.undoMember();
      }
      // Some errors end the transaction by themselves.
      if (goesOn === "undo all" || !this.#transaction.isOpen) return false;
      const isFull = done.length >= MAX_GROUP_SIZE || performance.now() >= end;
      if (goesOn === "last" || task.needsOwnTransaction || isFull) break;
      if (this.#queue.first?.needsOwnTransaction) break;
    }
    return true;
  }

  /** Begins the transaction when no other process holds the lock; returns false when the queue is empty. */
  async #beginTransaction(): Promise<boolean> {
    for (const pause of backoffDelays()) {
      if (this.#queue.length === 0) return false;
      try {
        const busyError = this.#transaction.begin();
        if (busyError === undefined) return true;
        this.#queue.lastBeginError = busyError;
        await sleep(pause);
      } catch (error) {
        this.#queue.failAll(error);
        return false;
      }
    }
    return false;
  }

  #commit(done: readonly FinishedTask[]): void {
    try {
      this.#transaction.keepOriginals(done);
      // Nothing responds 200 before this COMMIT and the flush below it: `reportResults` runs after both.
      this.#transaction.commit();
    } catch (cause) {
      const error = this.#transaction.commitError(cause);
      // One of them broke a constraint that only COMMIT checks, and must not fail the others.
      const mayExclude = error.reason === "commit_failed" && isConstraintError(cause) && done.length > 1;
      if (mayExclude) this.#runEachInOwnTransaction(done);
      else this.#fail(done, error);
      return;
    }
    this.#queue.running.clear();
    this.#committed();
    // The next group is at work while the disk takes this one.
    this.#reportAfterFlush({ done, since: performance.now() });
  }

  #reportAfterFlush(group: FlushingGroup): void {
    const entry = this.#flushing.add(group);
    this.#watchFlushes();
    this.#flusher.flush().then(
      () => {
        this.#flushing.remove(entry);
        reportResults(group.done);
      },
      (cause: unknown) => {
        this.#flushing.remove(entry);
        this.#fail(group.done, new StoreError("commit_unknown", "the flush of COMMIT failed", cause));
      },
    );
  }

  /** One timer for all groups: most are gone before it looks. */
  #watchFlushes(): void {
    this.#slowFlushTimer ??= setTimeout(() => {
      this.#slowFlushTimer = undefined;
      this.#failSlowFlushes();
      if (this.#flushing.first !== undefined) this.#watchFlushes();
    }, SLOW_FLUSH_MS).unref();
  }

  /** Fails the members of slow flushes whose deadline has passed; those flushes may still end well. */
  #failSlowFlushes(): void {
    const now = performance.now();
    for (const group of this.#flushing) {
      if (now - group.since < SLOW_FLUSH_MS) break;
      const late = group.done.filter(({ task }) => task.deadline <= now);
      group.done = group.done.filter(({ task }) => task.deadline > now);
      for (const { task } of late) task.fail(new StoreError("commit_unknown", FLUSH_TOO_SLOW, undefined));
    }
  }

  #fail(done: readonly FinishedTask[], fault: StoreError): void {
    this.#queue.running.clear();
    for (const { task } of done) task.fail(fault);
  }

  /** A member has failed after it had written, or an error has ended the transaction. @throws if it stays open */
  #runAgain(done: readonly FinishedTask[]): void {
    const wasOpen = this.#transaction.isOpen;
    if (!this.#transaction.rollBack()) throw new Error("ROLLBACK failed");
    if (done.length === 1) {
      this.#queue.running.clear();
      reportResults(done);
    } else if (wasOpen) {
      this.#transaction.requireSavepoints();
      this.#requeue(done);
    } else this.#runEachInOwnTransaction(done);
  }

  #runEachInOwnTransaction(done: readonly FinishedTask[]): void {
    for (const { task } of done) task.needsOwnTransaction = true;
    this.#requeue(done);
  }

  #requeue(done: readonly FinishedTask[]): void {
    this.#queue.running.clear();
    this.#queue.requeue(done.map(({ task }) => task));
  }
}

function reportResults(done: readonly FinishedTask[]): void {
  for (const { task, failure } of done) {
    if (failure === undefined) task.settle();
    else task.fail(toStoreError(failure.error));
  }
}
