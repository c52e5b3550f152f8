/** The time of day, handed in so that policies and tests choose it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** What the work comes to, or `late` where it takes longer than `ms` milliseconds; then it goes on all the same. */
export async function withTimeout<T, Late>(work: Promise<T>, ms: number, late: Late): Promise<T | Late> {
  const overdue = Promise.withResolvers<Late>();
  const timer = setTimeout(overdue.resolve, ms, late);
  try {
    return await Promise.race([work, overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * At most so many in a stretch of time, which begins with the first of them. A clock that is set back begins another one.
 * @returns whether one more may be, at this time; one that may not is not counted
 */
export function createWindowLimit(count: number, windowMs: number): (now: Date) => boolean {
  let windowStart = Number.NEGATIVE_INFINITY;
  let counted = 0;
  return (now) => {
    const time = now.getTime();
    if (time - windowStart >= windowMs || time < windowStart) {
      windowStart = time;
      counted = 0;
    }
    if (counted >= count) return false;
    counted += 1;
    return true;
  };
}
