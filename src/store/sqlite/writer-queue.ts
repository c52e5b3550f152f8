import { BriefMap, FairQueue } from "../../system/index.ts";
import { type Deadline, MESSAGES } from "../retry-until.ts";
import { StoreError } from "../store-errors.ts";
import type { TaskOriginal } from "./insert-originals.ts";

/** A piece of work that waits for the writer, or for the commit of its group. */
export interface WriterTask {
  /** The event at work, so that a late duplicate learns what it waited for; `NO_EVENT` for a background task. */
  readonly eventKey: string;
  readonly deadline: Deadline;
  /** Set after its group rolled back for an unknown reason: it runs next in its own transaction. */
  needsOwnTransaction: boolean;
  /** The original of its event, once it ran: those of a group are written before COMMIT. */
  readonly kept?: TaskOriginal | undefined;
  /** Runs it; resolves with whether to keep what it wrote. It may run again where its transaction was lost. */
  run(): Promise<boolean>;
  settle(): void;
  fail(error: unknown): void;
}

/** The key of what the store writes beside the events: failures, leases, deliveries, the callback log. */
export const NO_EVENT = "";
const LOOK_EVERY_MS = 20;

/** Tasks in order of arrival, while sources and tenants take turns. One that has left is not kept, also where others always wait. */
class TaskList {
  #tasks = new FairQueue<WriterTask>();
  length = 0;

  get first(): WriterTask | undefined {
    return this.#tasks.first;
  }

  add(task: WriterTask): void {
    this.#tasks.add(task.eventKey.slice(0, task.eventKey.indexOf("\0")), task);
    this.length += 1;
  }

  removeFirst(): void {
    this.#tasks.removeFirst();
    this.length -= 1;
  }

  putBack(tasks: readonly WriterTask[]): void {
    this.#replace([...tasks, ...this.#tasks]);
  }

  /** Takes out those that match. */
  remove(matches: (task: WriterTask) => boolean): WriterTask[] {
    const waiting = [...this.#tasks];
    const removed = waiting.filter(matches);
    if (removed.length > 0) this.#replace(waiting.filter((task) => !matches(task)));
    return removed;
  }

  #replace(tasks: readonly WriterTask[]): void {
    this.#tasks = new FairQueue();
    this.length = 0;
    for (const task of tasks) this.add(task);
  }
}

/**
 * Tasks that wait for the writer; each fails at its deadline. If both wait, events and background tasks take turns. So a
 * backlog of events lets failures be stored for their retries, and background tasks delay no event for long.
 */
export class WriterQueue {
  /** The events of the group at work, until its commit. */
  readonly running = new BriefMap<string, true>();
  /** The last error of the database that could not begin. */
  lastBeginError: unknown;
  readonly #events = new TaskList();
  readonly #background = new TaskList();
  #wasEvent = false;
  #timer: NodeJS.Timeout | undefined;

  get length(): number {
    return this.#events.length + this.#background.length;
  }

  get first(): WriterTask | undefined {
    return this.#nextList.first;
  }

  get #nextList(): TaskList {
    const isEventNext = this.#background.length === 0 || (!this.#wasEvent && this.#events.length > 0);
    return isEventNext ? this.#events : this.#background;
  }

  add(member: WriterTask): void {
    const list = member.eventKey === NO_EVENT ? this.#background : this.#events;
    list.add(member);
    this.#watch();
  }

  next(): WriterTask | undefined {
    const list = this.#nextList;
    const member = list.first;
    if (member === undefined) return undefined;
    list.removeFirst();
    this.#wasEvent = list === this.#events;
    return member;
  }

  /** They run again before those that came after them. */
  requeue(members: readonly WriterTask[]): void {
    this.#events.putBack(members.filter(({ eventKey }) => eventKey !== NO_EVENT));
    this.#background.putBack(members.filter(({ eventKey }) => eventKey === NO_EVENT));
    this.#watch();
  }

  failAll(error: unknown): void {
    for (const member of this.#remove(() => true)) member.fail(error);
  }

  /** One timer for all: most are gone before it looks. */
  #watch(): void {
    this.#timer ??= setTimeout(() => this.#failOverdue(), LOOK_EVERY_MS);
  }

  /** Fails the tasks whose deadline has passed. */
  #failOverdue(): void {
    this.#timer = undefined;
    const now = performance.now();
    const late = this.#remove(({ deadline }) => deadline <= now);
    for (const member of late) member.fail(this.#deadlineError(member));
    if (this.length > 0) this.#watch();
  }

  #remove(matches: (task: WriterTask) => boolean): WriterTask[] {
    return [...this.#events.remove(matches), ...this.#background.remove(matches)];
  }

  #deadlineError({ eventKey }: WriterTask): StoreError {
    return eventKey !== NO_EVENT && this.running.has(eventKey)
      ? new StoreError("in_progress", MESSAGES.in_progress, eventKey)
      : new StoreError("unavailable", "the SQLite writer was busy until the deadline", this.lastBeginError);
  }
}
