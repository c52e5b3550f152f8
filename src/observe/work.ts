/** What masking one body or text may cost; a unit is about what it takes to look at a character. */
export const MOST_WORK = 400_000;

/**
 * The work of masking one body, counted while it is done: by what was done, and not by how long that took, so that the bound is
 * the same on every machine and for every shape.
 */
export class Work {
  #spent = 0;
  #isOver = false;

  get spent(): number {
    return this.#spent;
  }

  /** Whether something was not done any more, so that what was done is not all. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Asked before anything is done. @returns whether so much was left; once it was not, nothing is */
  take(units: number): boolean {
    if (this.#isOver || this.#spent + units > MOST_WORK) this.#isOver = true;
    else this.#spent += units;
    return !this.#isOver;
  }
}
