import { MASKED, type SecretPatterns } from "./secret-patterns.ts";

/** Longer than any secret that only its shape identifies, except tokens, which are one word. */
const MIN_MARGIN = 2_048;
/** Ends a token, and an address with a password in it, which may be of any length. */
const ENDS_WORD = /[\s"',;<>[\]{}]/;
const OPEN_SHAPE = /eyJ|:\\?\/\\?\/|%3A%2F%2F/i;

/** How many characters are to be masked so that so many can be shown. */
export function charactersToMask(most: number, { secrets }: SecretPatterns): number {
  return most + Math.max(MIN_MARGIN, secrets.longestFirst[0]?.length ?? 0);
}

/**
 * The beginning of a text that is too long to be shown, or to be read. A secret that the cut goes through is not
 * recognized. So more is masked than is shown, and nothing that stands close to the cut is shown.
 */
export function maskedPrefix<Masked extends string | undefined>(
  text: string,
  most: number,
  patterns: SecretPatterns,
  mask: (beginning: string) => Masked,
): Masked | string {
  const read = charactersToMask(most, patterns);
  const masked = mask(text.slice(0, read));
  if (masked === undefined) return masked;
  let end = masked.length;
  if (text.length > read) {
    let word = masked.length;
    while (word > 0 && !ENDS_WORD.test(masked.charAt(word - 1))) word -= 1;
    const open = masked.slice(word).search(OPEN_SHAPE);
    end = Math.min(open === -1 ? end : word + open, masked.length - (read - most));
  }
  end = Math.min(most, Math.max(0, end));
  const mark = masked.lastIndexOf("[", end);
  if (mark !== -1 && mark + MASKED.length > end && masked.startsWith(MASKED, mark)) end = mark;
  return masked.slice(0, end).toWellFormed();
}

/** The cost limit of masking one body or text; a unit is about the cost of looking at a character. */
export const MAX_MASK_WORK = 400_000;

/**
 * The work of masking one body, counted while it is done. It counts what was done, not how long that took. So the bound
 * is the same on every machine and for every shape.
 */
export class MaskBudget {
  #spent = 0;
  #isOver = false;

  get spent(): number {
    return this.#spent;
  }

  /** Whether something was not done any more, so that what was done is not all. */
  get isExhausted(): boolean {
    return this.#isOver;
  }

  /** Asked before anything is done. @returns whether so much was left; once it was not, nothing is */
  take(units: number): boolean {
    if (this.#isOver || this.#spent + units > MAX_MASK_WORK) this.#isOver = true;
    else this.#spent += units;
    return !this.#isOver;
  }
}
