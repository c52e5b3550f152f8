import type { Deadline } from "../retry-until.ts";
import { StoreError } from "../store-errors.ts";

/** A piece of work that waits for the writer, or for the commit of its group. */
export interface WriterTask {
  /** The event at work, so that a late duplicate learns what it waited for. */
  readonly eventKey: string;
  readonly deadline: Deadline;
  /** Set after its group rolled back for an unknown reason: it runs next in its own transaction. */
  needsOwnTransaction: boolean;
  /** Runs it; resolves with whether to keep what it wrote. It may run again where its transaction was lost. */
  run(): Promise<boolean>;
  succeed(): void;
  fail(error: unknown): void;
}

const LOOK_EVERY_MS = 20;

/** Tasks in order of arrival. One that has left is not kept, also where others always wait. */
class TaskList {
  #tasks: (WriterTask | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#tasks.length - this.#first;
  }

  get first(): WriterTask | undefined {
    return this.#tasks[this.#first];
  }

  add(task: WriterTask): void {
    this.#tasks.push(task);
  }

  removeFirst(): void {
    this.#tasks[this.#first] = undefined;
    this.#first += 1;
    if (this.#first * 2 < this.#tasks.length) return;
    // In place: V8 may keep what stood in a former array alive for long (decision 0068).
    this.#tasks.splice(0, this.#first);
    this.#first = 0;
  }

  putBack(tasks: readonly WriterTask[]): void {
    this.#tasks = [...tasks, ...this.#waiting()];
    this.#first = 0;
  }

  /** Takes out those that match. */
  remove(matches: (task: WriterTask) => boolean): WriterTask[] {
    const waiting = this.#waiting();
    const removed = waiting.filter(matches);
    if (removed.length === 0) return removed;
    this.#tasks = waiting.filter((task) => !matches(task));
    this.#first = 0;
    return removed;
  }

  #waiting(): WriterTask[] {
    return this.#tasks.slice(this.#first) as WriterTask[];
  }
}

/** Tasks that wait for the writer, in order of arrival; each fails at its deadline. */
export class WriterQueue {
  /** The events of the group at work, until its commit. */
  readonly running = new Set<string>();
  /** What the database said last when it could not begin. */
  lastBeginError: unknown;
  readonly #waiting = new TaskList();
  #timer: NodeJS.Timeout | undefined;

  get length(): number {
    return this.#waiting.length;
  }

  get first(): WriterTask | undefined {
    return this.#waiting.first;
  }

  add(member: WriterTask): void {
    this.#waiting.add(member);
    this.#watch();
  }

  /** Tasks that need their own transactions come first, since they were put back. */
  next(): WriterTask | undefined {
    const member = this.#waiting.first;
    if (member !== undefined) this.#waiting.removeFirst();
    return member;
  }

  requeue(members: readonly WriterTask[]): void {
    this.#waiting.putBack(members);
    this.#watch();
  }

  failAll(error: unknown): void {
    for (const member of this.#waiting.remove(() => true)) member.fail(error);
  }

  /** One timer for all: most are gone before it looks. */
  #watch(): void {
    this.#timer ??= setTimeout(() => this.#failOverdue(), LOOK_EVERY_MS);
  }

  /** Fails the tasks whose deadline has passed. */
  #failOverdue(): void {
    this.#timer = undefined;
    const now = performance.now();
    const late = this.#waiting.remove(({ deadline }) => deadline <= now);
    for (const member of late) member.fail(this.#deadlineError(member));
    if (this.length > 0) this.#watch();
  }

  #deadlineError({ eventKey }: WriterTask): StoreError {
    return this.running.has(eventKey)
      ? new StoreError(
          "in_progress",
          "another delivery of this event was still running at the deadline",
          eventKey,
        )
      : new StoreError("unavailable", "the SQLite writer was busy until the deadline", this.lastBeginError);
  }
}
