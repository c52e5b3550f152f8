export type Poller = Pick<ReturnType<typeof createPoller>, "start" | "stop">;

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

  function run(intervalMs: number): void {
    current = round(() => stopped)
      .catch(failed)
      .finally(() => schedule(intervalMs));
  }

  function schedule(intervalMs: number): void {
    if (!stopped) timer = setTimeout(run, intervalMs, intervalMs);
  }

  return {
    /** The first round comes after one interval, each further one an interval after the end of the one before. */
    start: schedule,
    /** The same, with the first round at once: a stop waits for it. */
    startAtOnce: run,
    /** Begins no further round and waits for the one under way. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
