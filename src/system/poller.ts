export type Poller = Pick<ReturnType<typeof createPoller>, "start" | "stop" | "rounds">;

/** The rounds of periodic work. Times are in milliseconds since the epoch. */
export interface PollerRounds {
  /** Undefined until it is started. */
  readonly everyMs: number | undefined;
  readonly isAtWork: boolean;
  /** Of the last round that has ended. */
  readonly last: { readonly startedAt: number; readonly endedAt: number; readonly hasFailed: boolean } | undefined;
  /** Undefined during a round, before the start and after the stop. */
  readonly nextAt: number | undefined;
}

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
  let everyMs: number | undefined;
  let nextAt: number | undefined;
  let last: PollerRounds["last"];

  function run(intervalMs: number): void {
    everyMs = intervalMs;
    isAtWork = true;
    isWoken = false;
    const startedAt = Date.now();
    let hasFailed = false;
    current = round(() => stopped)
      .then(
        (result) => pauseAfter?.(result),
        (error: unknown) => {
          hasFailed = true;
          return failed(error);
        },
      )
      .then((pause) => {
        isAtWork = false;
        last = { startedAt, endedAt: Date.now(), hasFailed };
        schedule(intervalMs, isWoken ? 0 : (pause ?? intervalMs));
      });
  }

  function schedule(intervalMs: number, delayMs = intervalMs): void {
    everyMs = intervalMs;
    nextAt = Date.now() + delayMs;
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
    rounds(): PollerRounds {
      return { everyMs, isAtWork, last, nextAt: isAtWork || stopped ? undefined : nextAt };
    },
    /** Begins no further round and waits for the one under way. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}

/** Of several pollers as one: the newest round that ended, and the next one. */
export function joinedRounds(all: readonly PollerRounds[]): PollerRounds {
  const nextTimes = all.flatMap(({ nextAt }) => nextAt ?? []);
  const [last] = all.flatMap((one) => one.last ?? []).toSorted((one, other) => other.endedAt - one.endedAt);
  return {
    everyMs: all.find(({ everyMs }) => everyMs !== undefined)?.everyMs,
    isAtWork: all.some(({ isAtWork }) => isAtWork),
    last,
    nextAt: nextTimes.length === 0 ? undefined : Math.min(...nextTimes),
  };
}
