/** A handler, or its `prepare`, that ran past its limit. What it does afterwards has no effect. */
export class HandlerTimedOut extends Error {
  override readonly name = "HandlerTimedOut";
}

/** Tells the work of its time limit; the signal is made for those who ask for it, since most do not. */
export interface TimeLimit {
  readonly signal: AbortSignal;
}

/**
 * Ends the wait for `run` after `ms` milliseconds. The work itself cannot be stopped, only told through the
 * signal, so whoever lent it a transaction must take that back.
 */
export function withTimeLimit<T>(
  ms: number,
  what: string,
  run: (limit: TimeLimit) => Promise<T> | T,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const limit = new Limit();
    const timer = setTimeout(() => {
      const error = new HandlerTimedOut(`${what} exceeded its time limit of ${ms} ms (HANDLER_TIMEOUT_MS)`);
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
