export type Poller = ReturnType<typeof createPoller>;

/**
 * Periodic work, one round at a time.
 * @param round one round of work; asks `isStopping` before it takes on more
 * @param failed called when a round failed; the next one runs all the same
 */
export function createPoller(
  round: (isStopping: () => boolean) => Promise<unknown>,
  failed: (error: unknown) => void,
) {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<unknown> = Promise.resolve();
  let stopped = false;

  function schedule(intervalMs: number, delayMs = intervalMs): void {
    if (stopped) return;
    timer = setTimeout(() => {
      current = round(() => stopped)
        .catch(failed)
        .finally(() => schedule(intervalMs));
    }, delayMs);
  }

  return {
    /** The first round comes after one interval or the given delay, each further one an interval after the end of the one before. */
    start: schedule,
    /** Begins no further round and waits for the one under way. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
