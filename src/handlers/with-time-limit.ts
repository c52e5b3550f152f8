import { DeadlineList, readableError } from "../domain/index.ts";

/** A handler, or its `prepare`, that ran past its limit. What it does afterwards has no effect. */
export class HandlerTimedOut extends Error {
  override readonly name = "HandlerTimedOut";
}

function timedOut(what: string, ms: number): string {
  return `${what} exceeded its time limit of ${ms} ms (HANDLER_TIMEOUT_MS)`;
}

/** Tells the work of its time limit; the signal is made for those who ask for it, since most do not. */
export interface TimeLimit {
  readonly signal: AbortSignal;
}

const LIMIT = Symbol("limit");

/**
 * One getter for all contexts. A literal's own getter is another one each time, which V8 keeps in its old generation with
 * all that the event has, until it collects the whole heap.
 */
const SIGNAL: PropertyDescriptor & ThisType<{ readonly [LIMIT]: TimeLimit }> = {
  enumerable: true,
  get() {
    return this[LIMIT].signal;
  },
};

/** Adds `signal` to what a handler gets. */
export function withSignal<Context extends object>(
  context: Context,
  limit: TimeLimit,
): Context & { readonly signal: AbortSignal } {
  Object.defineProperty(Object.assign(context, { [LIMIT]: limit }), "signal", SIGNAL);
  return context as Context & { readonly signal: AbortSignal };
}

/**
 * Ends the wait for `run` after `ms` milliseconds. The work itself cannot be stopped: the signal asks it to end, and the
 * caller must end any transaction handle that it passed on.
 */
export function withTimeLimit<T>(
  ms: number,
  what: string,
  run: (limit: TimeLimit) => Promise<T> | T,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const limit = new Limit();
    const timer = setTimeout(() => {
      const error = new HandlerTimedOut(timedOut(what, ms));
      limit.exceeded(error);
      reject(error);
    }, ms);
    const ended = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    try {
      Promise.resolve(run(limit)).then(
        (value) => ended(() => resolve(value)),
        (error: unknown) => ended(() => reject(error)),
      );
    } catch (error) {
      ended(() => reject(error));
    }
  });
}

class Limit implements TimeLimit {
  #controller: AbortController | undefined;
  #error: HandlerTimedOut | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#error !== undefined) this.#controller.abort(this.#error);
    }
    return this.#controller.signal;
  }

  exceeded(error: HandlerTimedOut): void {
    this.#error = error;
    this.#controller?.abort(error);
  }
}

interface RunningWork {
  readonly what: string;
  readonly limit: Limit;
  readonly reject: (error: HandlerTimedOut) => void;
}

/** The same limit for many, without a timer for each. */
export class SharedTimeLimit {
  readonly #running: DeadlineList<RunningWork>;

  constructor(ms: number) {
    const exceed = ({ what, limit, reject }: RunningWork): void => {
      const error = new HandlerTimedOut(timedOut(what, ms));
      limit.exceeded(error);
      reject(error);
    };
    this.#running = new DeadlineList(ms, exceed, true);
  }

  run<T>(what: string, run: (limit: TimeLimit) => Promise<T> | T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const limit = new Limit();
      const entry = this.#running.add({ what, limit, reject });
      const ended = () => this.#running.remove(entry);
      const failed = (error: unknown) => {
        ended();
        // Whatever a handler throws is read from here on, and reading it must not throw again.
        reject(readableError(error));
      };
      try {
        Promise.resolve(run(limit)).then((value) => {
          ended();
          resolve(value);
        }, failed);
      } catch (error) {
        failed(error);
      }
    });
  }
}
