import { BriefMap } from "./brief-map.ts";

/**
 * A limit that several names share: sources with their tenants. While places are free, any name may take them. When all
 * are taken, a name may still take an equal share, so that no name waits for another.
 */
export class FairShare {
  readonly #max: number;
  readonly #taken = new BriefMap<string, number>();
  #active = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many are taken; beyond the maximum where the first names took more than an equal share. */
  get active(): number {
    return this.#active;
  }

  /** How many more this name may take; none where the number is not positive. */
  room(name: string): number {
    const taken = this.#taken.get(name);
    const sharers = this.#taken.size + (taken === undefined ? 1 : 0);
    return Math.max(this.#max - this.#active, Math.floor(this.#max / sharers) - (taken ?? 0));
  }

  take(name: string, count = 1): void {
    this.#active += count;
    this.#taken.set(name, (this.#taken.get(name) ?? 0) + count);
  }

  release(name: string, count = 1): void {
    const remaining = (this.#taken.get(name) ?? 0) - count;
    this.#active -= count;
    if (remaining > 0) this.#taken.set(name, remaining);
    else this.#taken.delete(name);
  }
}
