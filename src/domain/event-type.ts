/** As platforms name types: `invoice.paid`, `/deploy`, `v2.core.account[requirements].updated`, `EC2 Instance Launch`. */
const TYPE = /^(?! )[^*\p{Cc}\p{Cs}]{1,255}(?<! )$/u;
/** A `*` after a letter would select other words that begin alike. */
const PATTERN = /^(?:(?! )[^*\p{Cc}\p{Cs}]{0,253}[^*\p{Cc}\p{Cs}\p{L}\p{N}])?\*$/u;

/** Describes in messages the texts that `isTypePattern` accepts. */
export const TYPE_PATTERN_EXPECTED =
  'expected a type as the platform sends it, of up to 255 characters, a pattern such as "invoice.*", or "*"';

/** Whether a text is an event type, or a pattern of types: `invoice.*` or `*`. */
export function isTypePattern(text: unknown): text is string {
  return typeof text === "string" && (TYPE.test(text) || PATTERN.test(text));
}

export function fitsTypePattern(pattern: string, type: string): boolean {
  return pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
