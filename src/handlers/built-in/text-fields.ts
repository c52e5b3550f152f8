import { z } from "zod";

/**
 * A text that both databases store: PostgreSQL refuses NUL, and a lone surrogate would come back as another
 * character. Refusing it here is a 400; at the database it would be a 500 that is redelivered for days.
 */
export const storableText = z
  .string()
  .min(1)
  .refine((text) => text.isWellFormed() && !text.includes("\u0000"), "must not hold NUL or lone surrogates");

/** An id that is a key of a table: bounded, so that every index takes it. */
export const idText = storableText.refine(
  (text) => Buffer.byteLength(text) <= 255,
  "must be at most 255 bytes long",
);
