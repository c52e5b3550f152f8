/** A handler, or its `prepare`, that ran past its limit. What it does afterwards has no effect. */
export class HandlerTimedOut extends Error {
  override readonly name = "HandlerTimedOut";
}

/**
 * Ends the wait for `run` after `ms` milliseconds. The work itself cannot be stopped, only told through the
 * signal, so whoever lent it a transaction must take that back.
 */
export async function withTimeLimit<T>(
  ms: number,
  what: string,
  run: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new HandlerTimedOut(`${what} exceeded its time limit of ${ms} ms (HANDLER_TIMEOUT_MS)`);
    controller.abort(error);
    late.reject(error);
  }, ms);
  try {
    return await Promise.race([run(controller.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
