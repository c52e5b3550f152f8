/** What one diagnosis may cost; a unit is what it takes to hash a byte. A long body gets fewer guesses. */
const MAX_WORK = 4 * 1_024 * 1_024;
/** What is done without a pause. */
const STEP = 16_384;

/**
 * The work of one diagnosis, paid for while it is done: what is hashed, read, spelled and written. So it stays bounded for any
 * body, by what was done and not by how long that took.
 */
export class WorkBudget {
  #spent = 0;
  #paused = 0;

  get spent(): number {
    return this.#spent;
  }

  get isSpent(): boolean {
    return this.#spent > MAX_WORK;
  }

  /** @returns whether there was so much left; once there was not, nothing is */
  take(units: number): boolean {
    this.#spent += units;
    return !this.isSpent;
  }

  /** Whether a step's work was done since this last said so: then it is time for a pause. */
  isDue(): boolean {
    if (this.#spent - this.#paused < STEP) return false;
    this.#paused = this.#spent;
    return true;
  }
}
