/** Periodic work, one round at a time. */
export interface Poller {
  /** The first round comes after one interval, each further one an interval after the end of the one before. */
  start(intervalMs: number): void;
  /** Begins no further round and waits for the one under way. */
  stop(): Promise<void>;
}

/**
 * @param round one round of work; asks `isStopping` before it takes on more
 * @param failed called when a round failed; the next one runs all the same
 */
export function createPoller(
  round: (isStopping: () => boolean) => Promise<unknown>,
  failed: (error: unknown) => void,
): Poller {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<unknown> = Promise.resolve();
  let stopped = false;

  function schedule(intervalMs: number): void {
    if (stopped) return;
    timer = setTimeout(() => {
      current = round(() => stopped)
        .catch(failed)
        .finally(() => schedule(intervalMs));
    }, intervalMs);
  }

  return {
    start: schedule,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
