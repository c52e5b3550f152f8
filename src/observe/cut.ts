import { MASKED, type Shapes } from "./secret-shapes.ts";

/** More than any secret has that is told by its shape alone, save for tokens, which are one word. */
const LEAST_MARGIN = 2_048;
/** Ends a token, and an address with a password in it, which may be of any length. */
const ENDS_WORD = /[\s"',;<>[\]{}]/;
const OPEN_SHAPE = /eyJ|:\\?\/\\?\/|%3A%2F%2F/i;

/** How many characters are to be masked so that so many can be shown. */
export function charactersFor(most: number, { longestSecret }: Shapes): number {
  return most + Math.max(LEAST_MARGIN, longestSecret);
}

/**
 * The beginning of a text that is too long to be shown, or to be read. A secret through which the cut goes is not known for one,
 * so that more is masked than is shown, and nothing that stands close to the cut is.
 */
export function shownPart<Masked extends string | undefined>(
  text: string,
  most: number,
  shapes: Shapes,
  mask: (beginning: string) => Masked,
): Masked | string {
  const read = charactersFor(most, shapes);
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
