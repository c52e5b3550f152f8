import type { Deadline } from "../store.ts";
import { StoreFault } from "../store-fault.ts";

/** A piece of work that waits for the writer, or for the commit of its group. */
export interface Member {
  /** The event at work, so that a late duplicate learns what it waited for. */
  readonly topic: string;
  readonly deadline: Deadline;
  /** Set after its group was lost through no fault that is known to be its own: its next transaction holds nobody else. */
  isAlone: boolean;
  /** Runs it; resolves with whether to keep what it wrote. */
  run(): Promise<boolean>;
  settle(): void;
  fail(error: unknown): void;
}

const LOOK_EVERY_MS = 20;

/** Who waits for the writer: first come, first served, and nobody longer than his deadline. */
export class WriterQueue {
  /** The events of the group at work, until its commit. */
  readonly atWork = new Set<string>();
  /** What the database said last when it could not begin. */
  hindered: unknown;
  #waiting: Member[] = [];
  #first = 0;
  #timer: NodeJS.Timeout | undefined;

  get length(): number {
    return this.#waiting.length - this.#first;
  }

  add(member: Member): void {
    this.#waiting.push(member);
    // One timer for all: most are gone before it looks.
    this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS);
  }

  /** Those that must be alone come first, since they were put back. */
  next(): Member | undefined {
    const member = this.#waiting[this.#first];
    if (member === undefined) return undefined;
    this.#first += 1;
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    }
    return member;
  }

  putBack(members: readonly Member[]): void {
    this.#waiting = [...members, ...this.#waiting.slice(this.#first)];
    this.#first = 0;
  }

  failAll(error: unknown): void {
    const members = this.#waiting.slice(this.#first);
    this.#waiting = [];
    this.#first = 0;
    for (const member of members) member.fail(error);
  }

  /** Tells those whose deadline has come that they waited in vain. */
  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    const waiting = this.#waiting.slice(this.#first);
    const late = waiting.filter(({ deadline }) => deadline <= now);
    if (late.length > 0) {
      this.#waiting = waiting.filter(({ deadline }) => deadline > now);
      this.#first = 0;
    }
    for (const member of late) member.fail(this.#fault(member));
    if (this.length > 0) this.#timer = setTimeout(() => this.#look(), LOOK_EVERY_MS);
  }

  #fault({ topic }: Member): StoreFault {
    return this.atWork.has(topic)
      ? new StoreFault(
          "in_progress",
          "another delivery of this event was still running at the deadline",
          topic,
        )
      : new StoreFault(
          "unavailable",
          "the database's one writer was not free until the deadline",
          this.hindered,
        );
  }
}
