import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { pauses } from "../patience.ts";
import type { Deadline } from "../store.ts";
import { StoreFault } from "../store-fault.ts";
import type { Connection } from "./connection.ts";
import type { Flusher } from "./flusher.ts";
import { GroupTransaction } from "./group-transaction.ts";
import { isConstraint, unavailableWhereTroubled } from "./hindrance.ts";
import { type Member, WriterQueue } from "./writer-queue.ts";

/** What a piece of work came to, and whether what it wrote shall stay. */
export interface Worked<T> {
  readonly value: T;
  readonly keep: boolean;
}

/** A group ends when it is this large, or this old: who is done must not wait long for who is not. */
const MOST_MEMBERS = 256;
const GROUP_MS = 20;

/** A member that had its turn. What it came to may rest on what the others wrote, so it is told when that is safe. */
interface Ended {
  readonly member: Member;
  tell(): void;
}

/**
 * SQLite has one writer, and a commit costs a flush of the disk whatever it holds. So what waits while a group is at
 * work shares the next transaction: each member runs in a savepoint of its own, one after the other, and is answered
 * after the commit and its flush. Nobody waits for a group to fill.
 */
export class Writer {
  readonly #transaction: GroupTransaction;
  readonly #flusher: Flusher;
  readonly #committed: () => void;
  readonly #queue = new WriterQueue();
  #working: Promise<void> | undefined;
  #atWork: Promise<void> = Promise.resolve();
  #resting: Promise<unknown> | undefined;

  /** @param committed told of each commit */
  constructor(connection: Connection, flusher: Flusher, committed: () => void) {
    this.#transaction = new GroupTransaction(connection, flusher);
    this.#flusher = flusher;
    this.#committed = committed;
  }

  /**
   * Runs `work` in a transaction, and resolves after its commit. It may run again where its group was lost, so it has
   * no effect but on the database.
   * @throws what `work` threw, all of it undone; StoreFault when the database could not do it before the deadline
   */
  submit<T>(topic: string, deadline: Deadline, work: () => Promise<Worked<T>> | Worked<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let value: T;
      this.#queue.add({
        topic,
        deadline,
        isAlone: false,
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
    // Whoever waits for a flush that fails is told so; this only waits for its end.
    await this.#flusher.flush().catch(() => {});
  }

  /** Runs `during` between two groups; it must be short, since everybody waits for it. */
  async rest(during: () => Promise<unknown>): Promise<void> {
    const resting = this.#atWork.then(during);
    this.#resting = resting.catch(() => {});
    try {
      await resting;
    } finally {
      this.#resting = undefined;
    }
  }

  async #work(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        // Whatever has arrived by the end of this turn of the event loop is in the group.
        await nextTurn();
        if (this.#resting !== undefined) await this.#resting;
        this.#atWork = this.#group();
        await this.#atWork;
      }
    } finally {
      this.#working = undefined;
    }
  }

  /** Never rejects: a rejected group would stop the writer for good. */
  async #group(): Promise<void> {
    if (!(await this.#open())) return;
    const done: Ended[] = [];
    try {
      if (await this.#fill(done)) this.#close(done);
    } catch (cause) {
      this.#fail(done, this.#transaction.broken(cause));
    }
  }

  /** Runs the members; false when an error ended the transaction. @throws when that could not be rolled back */
  async #fill(done: Ended[]): Promise<boolean> {
    const end = performance.now() + GROUP_MS;
    for (;;) {
      const member = this.#queue.next();
      if (member === undefined) break;
      await this.#run(member, done);
      if (!this.#transaction.isOpen) {
        this.#lost(done);
        return false;
      }
      if (member.isAlone || done.length >= MOST_MEMBERS || performance.now() >= end) break;
    }
    return true;
  }

  /** Begins the transaction as soon as no other process holds the lock; false when nobody waits for it any more. */
  async #open(): Promise<boolean> {
    for (const pause of pauses()) {
      if (this.#queue.length === 0) return false;
      try {
        const hindered = this.#transaction.begin();
        if (hindered === undefined) return true;
        this.#queue.hindered = hindered;
        await sleep(pause);
      } catch (error) {
        this.#queue.failAll(error);
        return false;
      }
    }
    return false;
  }

  async #run(member: Member, done: Ended[]): Promise<void> {
    this.#queue.atWork.add(member.topic);
    try {
      this.#transaction.beginMember();
      this.#transaction.endMember(await member.run());
      done.push({ member, tell: () => member.settle() });
    } catch (error) {
      this.#queue.atWork.delete(member.topic);
      done.push({ member, tell: () => member.fail(unavailableWhereTroubled(error)) });
      this.#transaction.undoMember();
    }
  }

  #close(done: readonly Ended[]): void {
    try {
      this.#transaction.commit();
    } catch (cause) {
      // Where it is not undone, the next process may find in the log what COMMIT wrote there.
      const isUndone = this.#transaction.rollBack();
      const reason = isUndone ? "commit_failed" : "commit_unknown";
      // A constraint that only COMMIT checks: one of them broke it, and the others shall not pay for it.
      if (isUndone && isConstraint(cause) && done.length > 1) this.#again(done);
      else this.#fail(done, new StoreFault(reason, "COMMIT was refused", cause));
      return;
    }
    this.#queue.atWork.clear();
    this.#committed();
    // The next group is at work while the disk takes this one.
    this.#flusher.flush().then(
      () => {
        for (const { tell } of done) tell();
      },
      (cause: unknown) =>
        this.#fail(done, new StoreFault("commit_unknown", "the flush of COMMIT failed", cause)),
    );
  }

  #fail(done: readonly Ended[], fault: StoreFault): void {
    this.#queue.atWork.clear();
    for (const { member } of done) member.fail(fault);
  }

  /** After an error that ended the transaction. */
  #lost(done: readonly Ended[]): void {
    const [only, ...others] = done;
    if (others.length > 0) this.#again(done);
    else only?.tell();
  }

  /** What the others did is undone with what one of them did; each runs again, alone. */
  #again(done: readonly Ended[]): void {
    this.#queue.atWork.clear();
    const members = done.map(({ member }) => member);
    for (const member of members) member.isAlone = true;
    this.#queue.putBack(members);
  }
}
