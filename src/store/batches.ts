import { type EventKey, keyText } from "../domain/index.ts";
import type { StoredRecord } from "./areas/records.ts";
import { type Deadline, retryUntil } from "./retry-until.ts";
import { StoreError, type StoreErrorReason } from "./store-errors.ts";

/** A delivery that asks for its event's record: completed and durable, or undefined where the event has none. */
export type PendingLookup = BatchedRequest<StoredRecord | undefined>;

/** A request that shares a statement with others. Exactly one of `resolve` and `reject` is called, once. */
export interface BatchedRequest<Answer> {
  readonly key: EventKey;
  readonly deadline: Deadline;
  resolve(answer: Answer): void;
  /** @param error a StoreError at the deadline, or an error that does not pass */
  reject(error: unknown): void;
}

export interface BatchRules<Request, Answer> {
  /** The answers to these requests, in their order. It runs again after a transient error. */
  readonly run: (requests: readonly Request[], deadline: Deadline) => Promise<readonly Answer[]>;
  readonly maxConcurrentBatches: number;
  /** Whether a batch takes one request of an event at most; the next one waits for the next batch. */
  readonly isOnePerEvent?: boolean;
  readonly transientReason: (error: unknown) => StoreErrorReason | undefined;
}

/** How long a callback may wait for a busy database, or one that is away. */
export const BATCH_TIMEOUT_MS = 10_000;

/** Of batches that write through a store's `Database`, which has tried again. */
export const WRITING_BATCHES = {
  /** Further batches wait, so that they are full, and leave the connections to others. */
  maxConcurrentBatches: 2,
  transientReason: () => undefined,
} as const;

const MAX_BATCH_SIZE = 64;
/** A slower batch (a dead connection, for example) does not delay the next one. */
const SLOW_BATCH_MS = 300;

/** The requests of one turn of the event loop share a statement. */
export class Batches<Request extends BatchedRequest<Answer>, Answer> {
  readonly #rules: BatchRules<Request, Answer>;
  #waiting: Request[] = [];
  #running = 0;
  #isScheduled = false;

  constructor(rules: BatchRules<Request, Answer>) {
    this.#rules = rules;
  }

  add(request: Request): void {
    this.#waiting.push(request);
    this.#schedule();
  }

  ask(request: Omit<Request, "resolve" | "reject">): Promise<Answer> {
    return new Promise((resolve, reject) => this.add({ ...request, resolve, reject } as unknown as Request));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    if (this.#running >= this.#rules.maxConcurrentBatches) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run(this.#rules.isOnePerEvent ? this.#takeOnePerEvent() : this.#waiting.splice(0, MAX_BATCH_SIZE));
      this.#schedule();
    });
  }

  #takeOnePerEvent(): Request[] {
    const taken = new Map<string, Request>();
    this.#waiting = this.#waiting.filter((request) => {
      const name = keyText(request.key);
      if (taken.size === MAX_BATCH_SIZE || taken.has(name)) return true;
      taken.set(name, request);
      return false;
    });
    return [...taken.values()];
  }

  async #run(batch: readonly Request[]): Promise<void> {
    this.#running += 1;
    const watch = new BatchWatch(batch, () => {
      this.#running -= 1;
      this.#schedule();
    });
    const { run, transientReason } = this.#rules;
    const latest = Math.max(...batch.map(({ deadline }) => deadline));
    try {
      const answers = await retryUntil(latest, () => run(batch, latest), transientReason);
      watch.end();
      for (const [index, request] of batch.entries())
        if (watch.isOpen(request)) request.resolve(answers[index] as Answer);
    } catch (error) {
      watch.end();
      for (const request of batch) if (watch.isOpen(request)) request.reject(error);
    }
  }
}

const NOT_ANSWERED = "the database did not answer until the deadline";

/** Lets the next batch start when this one is over or slow, and fails each request at its own deadline. */
class BatchWatch<Request extends BatchedRequest<never>> {
  readonly #batch: readonly Request[];
  readonly #release: () => void;
  readonly #slowAt = performance.now() + SLOW_BATCH_MS;
  #overdue: Set<Request> | undefined;
  #isReleased = false;
  #timer: NodeJS.Timeout;

  constructor(batch: readonly Request[], release: () => void) {
    this.#batch = batch;
    this.#release = release;
    this.#timer = setTimeout(() => this.#check(), this.#untilNext());
  }

  isOpen(request: Request): boolean {
    return this.#overdue?.has(request) !== true;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#releaseOnce();
  }

  #releaseOnce(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#release();
  }

  #untilNext(): number {
    let next = this.#isReleased ? Number.POSITIVE_INFINITY : this.#slowAt;
    for (const request of this.#batch) if (this.isOpen(request)) next = Math.min(next, request.deadline);
    return Math.max(0, Math.ceil(next - performance.now()));
  }

  #check(): void {
    const now = performance.now();
    if (now >= this.#slowAt) this.#releaseOnce();
    const late = this.#batch.filter((request) => this.isOpen(request) && request.deadline <= now);
    this.#overdue ??= new Set();
    for (const request of late) this.#overdue.add(request);
    if (this.#overdue.size < this.#batch.length || !this.#isReleased)
      this.#timer = setTimeout(() => this.#check(), this.#untilNext());
    for (const request of late) {
      request.reject(new StoreError("unavailable", NOT_ANSWERED, new Error("it is slow, or away")));
    }
  }
}
