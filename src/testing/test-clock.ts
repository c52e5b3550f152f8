import type { Clock } from "../domain/index.ts";

/** The receiver's time of day. It stands still until a test moves it. */
export interface TestClock extends Clock {
  /**
   * Moves the time forward. Retries and notifications that come due on the way are done at their own time, one after
   * the other. Tokens that expire are refreshed at the next such time, at the latest at the end. Resolves when all of
   * it has ended. With 0: what is due now.
   * @throws RangeError for anything but milliseconds from 0
   */
  advance(ms: number): Promise<void>;
}

export interface DueWork {
  run(): Promise<unknown>;
  /** The first time after this one at which something comes due; undefined where nothing waits. */
  next(after: Date): Promise<Date | undefined>;
}

/** @param work called once there is a receiver; until then the clock does not move */
export function createTestClock(begin: Date, work: () => DueWork): TestClock {
  let now = begin.getTime();
  let underWay: Promise<void> = Promise.resolve();

  async function moveTo(end: number): Promise<void> {
    for (;;) {
      await work().run();
      const next = (await work().next(new Date(now)))?.getTime();
      if (next === undefined || next > end) break;
      now = next;
    }
    if (now === end) return;
    now = end;
    await work().run();
  }

  return {
    now: () => new Date(now),
    advance(ms) {
      if (!Number.isFinite(ms) || ms < 0)
        throw new RangeError(`clock.advance: got ${ms}, expected milliseconds from 0: time does not go back`);
      // One after the other: two that move at once would each do the other's work at the wrong time.
      underWay = underWay.catch(() => {}).then(() => moveTo(now + ms));
      return underWay;
    },
  };
}
