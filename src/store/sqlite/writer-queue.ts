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

/** Tasks that wait for the writer, in order of arrival; each fails at its deadline. */
export class WriterQueue {
  /** The events of the group at work, until its commit. */
  readonly running = new Set<string>();
  /** What the database said last when it could not begin. */
  lastBeginError: unknown;
  #waiting: WriterTask[] = [];
  #first = 0;
  #timer: NodeJS.Timeout | undefined;

  get length(): number {
    return this.#waiting.length - this.#first;
  }

  get first(): WriterTask | undefined {
    return this.#waiting[this.#first];
  }

  add(member: WriterTask): void {
    this.#waiting.push(member);
    // One timer for all: most are gone before it looks.
    this.#timer ??= setTimeout(() => this.#failOverdue(), LOOK_EVERY_MS);
  }

  /** Tasks that need their own transactions come first, since they were put back. */
  next(): WriterTask | undefined {
    const member = this.#waiting[this.#first];
    if (member === undefined) return undefined;
    this.#first += 1;
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    }
    return member;
  }

  requeue(members: readonly WriterTask[]): void {
    this.#waiting = [...members, ...this.#waiting.slice(this.#first)];
    this.#first = 0;
  }

  failAll(error: unknown): void {
    const members = this.#waiting.slice(this.#first);
    this.#waiting = [];
    this.#first = 0;
    for (const member of members) member.fail(error);
  }

  /** Fails the tasks whose deadline has passed. */
  #failOverdue(): void {
    this.#timer = undefined;
    const now = performance.now();
    const waiting = this.#waiting.slice(this.#first);
    const late = waiting.filter(({ deadline }) => deadline <= now);
    if (late.length > 0) {
      this.#waiting = waiting.filter(({ deadline }) => deadline > now);
      this.#first = 0;
    }
    for (const member of late) member.fail(this.#deadlineError(member));
    if (this.length > 0) this.#timer = setTimeout(() => this.#failOverdue(), LOOK_EVERY_MS);
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
