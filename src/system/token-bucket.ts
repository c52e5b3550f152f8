export class TokenBucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  #left: number;
  #countedAt = performance.now();

  constructor(perSecond: number, capacity = perSecond) {
    this.#perSecond = perSecond;
    this.#capacity = capacity;
    this.#left = capacity;
  }

  /** More than the capacity takes a full bucket, and leaves a debt. @returns whether there was enough */
  take(amount = 1): boolean {
    const now = performance.now();
    const refill = ((now - this.#countedAt) * this.#perSecond) / 1_000;
    this.#left = Math.min(this.#capacity, this.#left + refill);
    this.#countedAt = now;
    const hasEnough = Math.min(amount, this.#capacity) <= this.#left;
    if (hasEnough) this.#left -= amount;
    return hasEnough;
  }
}
