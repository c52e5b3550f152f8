/** Counts what is left out, and tells the number some time later. */
export interface MinuteTally {
  add(): void;
  /** Tells what was not told yet. */
  close(): void;
}

const MINUTE_MS = 60_000;

/** Tells at most once a minute, so that what a flood leaves out of the log does not flood the log. */
export function createMinuteTally(tell: (count: number) => void): MinuteTally {
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    clearTimeout(timer);
    timer = undefined;
    if (count > 0) tell(count);
    count = 0;
  }

  return {
    add() {
      count += 1;
      timer ??= setTimeout(close, MINUTE_MS).unref();
    },
    close,
  };
}
