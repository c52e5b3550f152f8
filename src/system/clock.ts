import type { Clock } from "../domain/index.ts";

export const systemClock: Clock = { now: () => new Date() };

/** The result of the work, or `late` where it takes longer than `ms` milliseconds; the work is not stopped. */
export async function withTimeout<T, Late>(work: Promise<T>, ms: number, late: Late): Promise<T | Late> {
  const overdue = Promise.withResolvers<Late>();
  const timer = setTimeout(overdue.resolve, ms, late);
  try {
    return await Promise.race([work, overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}
