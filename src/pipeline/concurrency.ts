import {
  type AttemptOutcome,
  type EventKey,
  type Failed,
  FairShare,
  failed,
  keyText,
} from "../domain/index.ts";
import { type Deadline, StoreError } from "../store/index.ts";

/**
 * Lets the deliveries of one event through one by one, within this process. The store alone keeps "once"; this keeps a
 * burst of duplicates from holding a database connection each while they wait for the first.
 */
export class EventLock {
  /** Each event that is locked, with the deliveries that wait for it in order of arrival. */
  readonly #waiters = new Map<string, { timer: NodeJS.Timeout; take(): void }[] | undefined>();

  /** Takes the lock where it is free. The holder calls `release`. */
  tryTake(key: EventKey): boolean {
    const name = keyText(key);
    if (this.#waiters.has(name)) return false;
    this.#waiters.set(name, undefined);
    return true;
  }

  /** Calls `taken` once the lock is the caller's, or `late` at the deadline. */
  wait(key: EventKey, deadline: Deadline, taken: () => void, late: (outcome: Failed) => void): void {
    if (this.tryTake(key)) return taken();
    const name = keyText(key);
    const waiters = this.#waiters.get(name) ?? [];
    this.#waiters.set(name, waiters);
    const timer = setTimeout(
      () => {
        waiters.splice(waiters.indexOf(waiter), 1);
        late(failed("event_in_progress", new Error(STILL_RUNNING)));
      },
      Math.max(0, deadline - performance.now()),
    );
    const waiter = { timer, take: taken };
    waiters.push(waiter);
  }

  release(key: EventKey): void {
    const name = keyText(key);
    const next = this.#waiters.get(name)?.shift();
    if (next === undefined) {
      this.#waiters.delete(name);
      return;
    }
    clearTimeout(next.timer);
    next.take();
  }

  /** Holds the lock while `run` is at work. */
  async run(key: EventKey, deadline: Deadline, run: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
    const late = await new Promise<Failed | undefined>((resolve) =>
      this.wait(key, deadline, () => resolve(undefined), resolve),
    );
    if (late !== undefined) return late;
    try {
      return await run();
    } catch (error) {
      return faultOutcome(error);
    } finally {
      this.release(key);
    }
  }
}

const STILL_RUNNING = "another delivery of this event was still running at the deadline";

/** The outcome of a fault outside the attempt itself, such as in a look-up. */
export function faultOutcome(error: unknown): Failed {
  return failed(error instanceof StoreError ? "store_unavailable" : "internal", error);
}

export type RunLock = ReturnType<typeof createRunLock>;

/** Runs failures concurrently, but a suspect alone: if the process dies during that run, the suspect is the cause. */
export function createRunLock() {
  /** Resolves when the last run that goes alone has ended. */
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
 * Bounds how many callbacks are at work, or wait for the store, at a time. A callback that waits longer than its platform
 * does is handled in vain, and delays the others. So past the bound the response is sent at once: latency and memory of
 * the accepted ones stay as they are however many come. Sources and tenants share the bound (decision 0080).
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

  /** Resolves when no callback is left: a listener waits for its connections alone, and a client may have gone. */
  idle(): Promise<void> {
    return this.#until(() => this.active === 0);
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

  outsideLimitEnded(): Promise<void> {
    return this.#until(() => this.#outsideLimit === 0);
  }

  async #until(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#ended ??= Promise.withResolvers();
      await this.#ended.promise;
    }
  }

  #noteEnd(): void {
    this.#ended?.resolve();
    this.#ended = undefined;
  }
}
