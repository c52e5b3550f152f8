import type { Clock } from "../domain/index.ts";

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
