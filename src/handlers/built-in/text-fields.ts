import { z } from "zod";

/**
 * A text that both databases store: PostgreSQL refuses NUL, and a lone surrogate would come back as another
 * character. Refusing it here returns 400; at the database it would return 500, and be redelivered for days.
 */
export const storableText = z
  .string()
  .min(1)
  .refine((text) => text.isWellFormed() && !text.includes("\u0000"), "must not hold NUL or lone surrogates");

/** An id that is a key of a table: bounded, so that every index takes it. */
export const idText = storableText.refine((text) => Buffer.byteLength(text) <= 255, "must be at most 255 bytes long");

/** An id as platforms send it: a text or a number. `plainText` is the key that both have in a table. */
export const idValue = z.union([idText, z.number()], "expected a string or a number");

/** PostgreSQL's `numeric` takes far more digits than `LONGEST_DECIMAL`. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const LONGEST_DECIMAL = 255;
const EXPECTED_DECIMAL = 'expected a number, or a decimal number as a string such as "49.90"';

/** A number, or a decimal number as a string, which keeps digits that a JavaScript number does not have. */
export const decimalValue = z.union(
  [z.number(), z.string().max(LONGEST_DECIMAL, EXPECTED_DECIMAL).regex(DECIMAL, EXPECTED_DECIMAL)],
  EXPECTED_DECIMAL,
);

/** A string as it is; a number without an exponent, so that one value has one text. */
export function plainText(value: string | number): string {
  const text = String(value);
  const [, sign = "", whole = "", fraction = "", exponent] =
    (typeof value === "number" && /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)) || [];
  if (exponent === undefined) return text;
  const shift = Number(exponent);
  // A double has at most seventeen digits, so that a large one has no fraction.
  return shift < 0
    ? `${sign}0.${"0".repeat(-shift - 1)}${whole}${fraction}`
    : `${sign}${whole}${fraction.padEnd(shift, "0")}`;
}
