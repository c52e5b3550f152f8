import { createWindowLimit, WindowMap } from "../../domain/index.ts";

/** One address may use a quarter: a sender's made-up ids must leave room for a platform's new key. */
const SHARE = 1 / 4;

/**
 * How many requests for made-up ids may be sent in a window: by all, and by each remote address.
 * @param name of the keys, such as `Google's keys` @returns why one more may not; undefined where it may, and is counted
 */
export function createFetchBudget(name: string, most: number, windowMs: number) {
  const ofOne = Math.ceil(most * SHARE);
  const mayFetch = createWindowLimit(most, windowMs);
  /** Each has cost a request, so that there are no more of them than requests. */
  const counts = new WindowMap<{ readonly resetAt: Date; readonly used: number }>(most);
  const within = `of ${name} were asked for within ${windowMs / 1_000} s`;
  return (address: string, now: Date): string | undefined => {
    const { used, resetAt } = counts.get(address, windowMs, now) ?? {
      used: 0,
      resetAt: new Date(now.getTime() + windowMs),
    };
    if (used >= ofOne) return `more than ${ofOne} unknown keys ${within} from one address`;
    if (!mayFetch(now)) return `more than ${most} unknown keys ${within}`;
    counts.set(address, { used: used + 1, resetAt });
    return undefined;
  };
}
