export type Poller = Pick<ReturnType<typeof createPoller>, "start" | "stop">;

/**
 * Periodic work, one round at a time.
 * @param round one round of work; asks `isStopping` before it takes on more
 * @param failed called when a round failed; the next one runs all the same
 * @param pauseAfter milliseconds until the next round, by what a round resolved with; without one, the interval
 */
export function createPoller<T>(
  round: (isStopping: () => boolean) => Promise<T>,
  failed: (error: unknown) => void,
  pauseAfter?: (result: T) => number | undefined,
) {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let isAtWork = false;
  let isWoken = false;

  function run(intervalMs: number): void {
    isAtWork = true;
    isWoken = false;
    current = round(() => stopped)
      .then((result) => pauseAfter?.(result), failed)
      .then((pause) => {
        isAtWork = false;
        schedule(intervalMs, isWoken ? 0 : (pause ?? intervalMs));
      });
  }

  function schedule(intervalMs: number, delayMs = intervalMs): void {
    if (!stopped) timer = setTimeout(run, delayMs, intervalMs);
    wakeNow = () => {
      clearTimeout(timer);
      run(intervalMs);
    };
  }

  let wakeNow = (): void => {};

  return {
    /** The first round comes after one interval, each further one an interval after the end of the one before. */
    start: (intervalMs: number): void => schedule(intervalMs),
    /** There is work: the next round begins now, or right after the one under way. */
    wake(): void {
      isWoken = true;
      if (!isAtWork && !stopped) wakeNow();
    },
    /** Starts with the first round at once; a stop waits for it. */
    startAtOnce: run,
    /** Begins no further round and waits for the one under way. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
