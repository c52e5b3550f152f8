import { mock } from "node:test";

/**
 * Runs an SDK that signs for the time of the machine's clock. The clock is another one until `run` returns and not while
 * a promise of it is pending: a receiver in this process would see it too.
 */
export function atTime<T>(now: Date, run: () => T): T {
  mock.timers.enable({ apis: ["Date"], now });
  try {
    return run();
  } finally {
    mock.timers.reset();
  }
}
