/** The time of day, as an argument, so that policies and tests choose it. */
export interface Clock {
  now(): Date;
}

/** ISO 8601, of a time in seconds as counts have it. */
export function isoTimeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/**
 * At most so many in a window of time, which begins with the first of them. A clock that is set back begins another one.
 * @returns whether one more, or `more`, fit in at this time; otherwise they are not counted
 */
export function createWindowLimit(most: number, windowMs: number): (now: Date, more?: number) => boolean {
  let windowStart = Number.NEGATIVE_INFINITY;
  let counted = 0;
  return (now, more = 1) => {
    const time = now.getTime();
    if (time - windowStart >= windowMs || time < windowStart) {
      windowStart = time;
      counted = 0;
    }
    if (counted + more > most) return false;
    counted += more;
    return true;
  };
}

/** Values by key until their windows end. The oldest makes room for a new one, which bounds the memory. */
export class WindowMap<Value extends { readonly resetAt: Date }> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string, windowMs: number, now: Date): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    const remainingMs = value.resetAt.getTime() - now.getTime();
    // One that ends more than a window from now started before the clock was set back.
    if (remainingMs > 0 && remainingMs <= windowMs) return value;
    this.#values.delete(key);
    return undefined;
  }

  set(key: string, value: Value): Value {
    const [oldest] = this.#values.size >= this.#most ? this.#values.keys() : [];
    if (oldest !== undefined) this.#values.delete(oldest);
    this.#values.set(key, value);
    return value;
  }
}
