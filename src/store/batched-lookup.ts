import type { EventKey } from "../domain/index.ts";
import type { StoredRecord } from "./records.ts";
import { type Deadline, retryUntil } from "./retry-until.ts";
import { StoreError, type StoreErrorReason } from "./store-errors.ts";

/** A delivery that asks for its event's record. Exactly one of `found` and `lookupFailed` is called, once. */
export interface PendingLookup {
  readonly key: EventKey;
  readonly deadline: Deadline;
  /** @param record completed and durable; undefined where the event has none */
  found(record: StoredRecord | undefined): void;
  /** @param error a StoreError at the deadline, or an error that does not pass */
  lookupFailed(error: unknown): void;
}

/** What differs by database. */
export interface LookupRules {
  /** The records of these events, in their order. */
  readonly read: (
    keys: readonly EventKey[],
    deadline: Deadline,
  ) => Promise<readonly (StoredRecord | undefined)[]>;
  readonly maxConcurrentBatches: number;
  readonly transientReason: (error: unknown) => StoreErrorReason | undefined;
}

const MAX_BATCH_SIZE = 64;
/** A slower batch (a dead connection, for example) does not delay the next one. */
const SLOW_BATCH_MS = 300;

/** The look-ups of one turn of the event loop share a read. */
export class BatchedLookup {
  readonly #rules: LookupRules;
  #waiting: PendingLookup[] = [];
  #running = 0;
  #isScheduled = false;

  constructor(rules: LookupRules) {
    this.#rules = rules;
  }

  add(lookup: PendingLookup): void {
    this.#waiting.push(lookup);
    this.#schedule();
  }

  find(key: EventKey, deadline: Deadline): Promise<StoredRecord | undefined> {
    return new Promise((found, lookupFailed) => this.add({ key, deadline, found, lookupFailed }));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    if (this.#running >= this.#rules.maxConcurrentBatches) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run(this.#waiting.splice(0, MAX_BATCH_SIZE));
      this.#schedule();
    });
  }

  async #run(batch: readonly PendingLookup[]): Promise<void> {
    this.#running += 1;
    const watch = new BatchWatch(batch, () => {
      this.#running -= 1;
      this.#schedule();
    });
    const { read, transientReason } = this.#rules;
    const latest = Math.max(...batch.map(({ deadline }) => deadline));
    const keys = batch.map(({ key }) => key);
    try {
      const records = await retryUntil(latest, () => read(keys, latest), transientReason);
      watch.end();
      for (const [index, lookup] of batch.entries()) if (watch.isOpen(lookup)) lookup.found(records[index]);
    } catch (error) {
      watch.end();
      for (const lookup of batch) if (watch.isOpen(lookup)) lookup.lookupFailed(error);
    }
  }
}

const NOT_ANSWERED = "the database did not answer the look-up until the deadline";

/** Lets the next batch start when this one is over or slow, and fails each look-up at its own deadline. */
class BatchWatch {
  readonly #batch: readonly PendingLookup[];
  readonly #release: () => void;
  readonly #slowAt = performance.now() + SLOW_BATCH_MS;
  readonly #overdue = new Set<PendingLookup>();
  #isReleased = false;
  #timer: NodeJS.Timeout;

  constructor(batch: readonly PendingLookup[], release: () => void) {
    this.#batch = batch;
    this.#release = release;
    this.#timer = setTimeout(() => this.#check(), this.#untilNext());
  }

  isOpen(lookup: PendingLookup): boolean {
    return !this.#overdue.has(lookup);
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
    for (const lookup of this.#batch) if (this.isOpen(lookup)) next = Math.min(next, lookup.deadline);
    return Math.max(0, Math.ceil(next - performance.now()));
  }

  #check(): void {
    const now = performance.now();
    if (now >= this.#slowAt) this.#releaseOnce();
    const late = this.#batch.filter((lookup) => this.isOpen(lookup) && lookup.deadline <= now);
    for (const lookup of late) this.#overdue.add(lookup);
    if (this.#overdue.size < this.#batch.length || !this.#isReleased)
      this.#timer = setTimeout(() => this.#check(), this.#untilNext());
    for (const lookup of late) {
      lookup.lookupFailed(new StoreError("unavailable", NOT_ANSWERED, new Error("it is slow, or away")));
    }
  }
}
