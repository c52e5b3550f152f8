/** What may be used up of something, as it grows again. */
export interface Allowance {
  has(amount: number): boolean;
  /** May take more than there is: then there is none until the debt is paid. */
  take(amount: number): void;
}

/** So much a second, and no more than `most` at once; `now` is in milliseconds. */
export function createAllowance(
  aSecond: number,
  most: number = aSecond,
  now: () => number = () => performance.now(),
): Allowance {
  let left = most;
  let counted = now();
  return {
    has(amount) {
      const since = now();
      left = Math.min(most, left + ((since - counted) * aSecond) / 1_000);
      counted = since;
      return amount <= left;
    },
    take(amount) {
      left -= amount;
    },
  };
}
