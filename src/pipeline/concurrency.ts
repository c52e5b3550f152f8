import { type AttemptOutcome, type EventKey, type Failed, failed, keyText } from "../domain/index.ts";
import { type Deadline, MESSAGES, StoreError } from "../store/index.ts";
import { FairShare, KeyedSemaphore, type Release } from "../system/index.ts";

/**
 * Lets the deliveries of one event through one by one, within this process. Only the store guarantees "once". The lock
 * keeps a burst of duplicates from holding a database connection each while they wait for the first.
 */
export class EventLock {
  readonly #deliveries = new KeyedSemaphore();

  tryAcquire(key: EventKey): Release | undefined {
    return this.#deliveries.tryAcquire(keyText(key), 1);
  }

  async acquire(key: EventKey, deadline: Deadline): Promise<Release | Failed> {
    const release = await this.#deliveries.acquire(keyText(key), 1, deadline);
    return release ?? failed("event_in_progress", new Error(MESSAGES.in_progress));
  }

  async run(key: EventKey, deadline: Deadline, run: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
    const release = await this.acquire(key, deadline);
    if (typeof release !== "function") return release;
    try {
      return await run();
    } catch (error) {
      return faultOutcome(error);
    } finally {
      release();
    }
  }
}

/** The outcome of a fault outside the attempt itself, such as in a look-up. */
export function faultOutcome(error: unknown): Failed {
  return failed(error instanceof StoreError ? "store_unavailable" : "internal", error);
}

export type RunLock = ReturnType<typeof createRunLock>;

/** Runs failures concurrently, but a suspect by itself: if the process dies during that run, the suspect is the cause. */
export function createRunLock() {
  let lastExclusive: Promise<unknown> = Promise.resolve();
  const running = new Set<Promise<unknown>>();
  return {
    shared<T>(run: () => Promise<T>): Promise<T> {
      const mine = lastExclusive.then(run);
      const ended = () => running.delete(mine);
      running.add(mine);
      mine.then(ended, ended);
      return mine;
    },
    /** Waits for the runs that have started; later ones wait for this one. */
    exclusive<T>(run: () => Promise<T>): Promise<T> {
      const mine = Promise.allSettled([lastExclusive, ...running]).then(run);
      lastExclusive = mine.catch(() => {});
      return mine;
    },
  };
}

/**
 * Bounds how many callbacks are at work, or wait for the store, at a time. A callback that waits longer than its
 * platform waits is handled in vain, and delays the others. So a callback past the bound gets its response at once. The
 * latency and memory of the others stay as they are. Sources and tenants share the bound (decision 0080).
 */
export class ConcurrencyLimit {
  readonly #places: FairShare;
  readonly #full: Failed;
  #outsideLimit = 0;
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(max: number) {
    this.#places = new FairShare(max);
    const reason = `${max} callbacks are at work or wait for the database (MAX_WAITING_CALLBACKS)`;
    this.#full = failed("overloaded", reason);
  }

  get active(): number {
    return this.#places.active;
  }

  /** Why none of this source and tenant is admitted now; undefined while one is. */
  overload(source: string): Failed | undefined {
    return this.#places.room(source) > 0 ? undefined : this.#full;
  }

  /** Counts a callback that is authentic. @returns why it is not admitted; otherwise `leave` has to be called */
  enter(source: string): Failed | undefined {
    const full = this.overload(source);
    if (full === undefined) this.#places.take(source);
    return full;
  }

  leave(source: string): void {
    this.#places.release(source);
    this.#noteEnd();
  }

  /** Resolves when no callback is left. A listener waits only for its connections, and a client may have left earlier. */
  async idle(): Promise<void> {
    while (this.active > 0) await this.#nextEnd();
  }

  /** Counts work outside the limit, for which a stop waits all the same. @returns ends it; may be called again */
  beginOutsideLimit(): () => void {
    let isOver = false;
    this.#outsideLimit += 1;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#outsideLimit -= 1;
      this.#noteEnd();
    };
  }

  async outsideLimitEnded(): Promise<void> {
    while (this.#outsideLimit > 0) await this.#nextEnd();
  }

  #nextEnd(): Promise<void> {
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  #noteEnd(): void {
    this.#ended?.resolve();
    this.#ended = undefined;
  }
}
