export class TokenBucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  #tokens: number;
  #countedAt = performance.now();

  constructor(perSecond: number, capacity = perSecond) {
    this.#perSecond = perSecond;
    this.#capacity = capacity;
    this.#tokens = capacity;
  }

  /** More than the capacity takes a full bucket, and leaves a debt. @returns whether there was enough */
  take(amount = 1): boolean {
    const now = performance.now();
    const refill = ((now - this.#countedAt) * this.#perSecond) / 1_000;
    this.#tokens = Math.min(this.#capacity, this.#tokens + refill);
    this.#countedAt = now;
    const hasEnough = Math.min(amount, this.#capacity) <= this.#tokens;
    if (hasEnough) this.#tokens -= amount;
    return hasEnough;
  }
}
