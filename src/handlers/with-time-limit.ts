import { readableError } from "../domain/index.ts";
import { DeadlineList } from "../system/index.ts";

/** A handler, or its `prepare`, ran past its limit. Its later work has no effect. */
export class HandlerTimedOut extends Error {
  override readonly name = "HandlerTimedOut";
}

/** The time limit of one run. Most runs do not use the signal, so that it is made on first use. */
export class TimeLimit {
  readonly #what: string;
  readonly #reject: (error: HandlerTimedOut) => void;
  #controller: AbortController | undefined;
  #error: HandlerTimedOut | undefined;

  constructor(what: string, reject: (error: HandlerTimedOut) => void) {
    this.#what = what;
    this.#reject = reject;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#error !== undefined) this.#controller.abort(this.#error);
    }
    return this.#controller.signal;
  }

  exceeded(ms: number): void {
    const message = `${this.#what} exceeded its time limit of ${ms} ms (HANDLER_TIMEOUT_MS)`;
    this.#error = new HandlerTimedOut(message);
    this.#controller?.abort(this.#error);
    this.#reject(this.#error);
  }
}

const LIMIT = Symbol("limit");

/**
 * One getter for all contexts. A literal would make a new one each time. V8 would keep it and its event in the old
 * generation until it collects the whole heap.
 */
const SIGNAL: PropertyDescriptor & ThisType<{ readonly [LIMIT]: TimeLimit }> = {
  enumerable: true,
  get() {
    return this[LIMIT].signal;
  },
};

/** Adds `signal` to a handler's context. */
export function withSignal<Context extends object>(context: Context, limit: TimeLimit) {
  Object.defineProperty(Object.assign(context, { [LIMIT]: limit }), "signal", SIGNAL);
  return context as Context & { readonly signal: AbortSignal };
}

/** One time limit for many runs, without a timer for each. */
export class SharedTimeLimit {
  readonly #running: DeadlineList<TimeLimit>;

  constructor(ms: number) {
    this.#running = new DeadlineList(ms, (limit) => limit.exceeded(ms), true);
  }

  /**
   * Ends the wait for `run` at the time limit. The work itself cannot be stopped. The signal asks it to end, and the
   * caller must end any transaction handle that it passed on.
   */
  run<T>(what: string, run: (limit: TimeLimit) => Promise<T> | T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const limit = new TimeLimit(what, reject);
      const entry = this.#running.add(limit);
      const failed = (error: unknown) => {
        this.#running.remove(entry);
        // Later code reads the thrown value, and reading it must not throw again.
        reject(readableError(error));
      };
      try {
        Promise.resolve(run(limit)).then((value) => {
          this.#running.remove(entry);
          resolve(value);
        }, failed);
      } catch (error) {
        failed(error);
      }
    });
  }
}
