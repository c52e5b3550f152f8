import { type MaskBudget, maskedPrefix } from "./mask-limits.ts";
import { MASKED, type SecretPatterns } from "./secret-patterns.ts";

const SEPARATOR = /[=:]/g;
const QUOTED = String.raw`\\+["'][^"']*["']?|"(?:[^"\\]|\\[\s\S])*"?|'(?:[^'\\]|\\[\s\S])*'?`;
/** Free text does not show the end of an object or array, so nothing after its beginning is kept. */
const NESTED = String.raw`(?!\[masked\])[{[][\s\S]*`;
/** In prose, a name in backticks (`sig=`) has no value behind it. */
const CODE_END = "(?!`(?:\\s|$))";
const VALUE = new RegExp(String.raw`${QUOTED}|${NESTED}|${CODE_END}(?:\[masked\]|[^\s"',;&)}\]])+`, "y");
/** Credentials and cookies are several words: `Digest username=…, response=…`. */
const LINE = new RegExp(String.raw`${QUOTED}|[^\r\n]+`, "y");
/** Words that follow the name of a setting in messages of our own: `STRIPE_SECRET: got a sequence`. */
const OWN_WORD = /^(?:got|is|expected)$/;
const TAKES_LINE = /(?:authorization|cookie)$/i;
const OPENING_QUOTE = /^\\*["']/;
const BLANK = /\s/;
const LONGEST_NAME = 64;

/** Errors may quote whole answers of other servers. */
const MAX_SHOWN_CHARACTERS = 16_384;

/** The cost of a pair beside the characters of its name, where work is counted. */
const PAIR = 24;

/** Without a `budget` the text must be bounded. When the budget is spent, the text may be masked in part. */
export type PairMask = (text: string, budget?: MaskBudget) => string;

/** Masks the values in pairs like `code=…`, `"token":"…"` or `Cookie: …`: looks once at each separator and the name before it. */
export function createPairMask(isSecretKey: (key: string) => boolean): PairMask {
  return (given, budget) => {
    let shown = "";
    let done = 0;
    SEPARATOR.lastIndex = 0;
    // Most header values hold no pair.
    for (let pair = SEPARATOR.exec(given); pair !== null; pair = SEPARATOR.exec(given)) {
      const name = nameBefore(given, pair.index, done);
      if (budget?.take(PAIR + name.length) === false) break;
      // Only a secret's value is taken whole; that of `error: token=…` holds a pair of its own.
      if (name === "" || !isSecretKey(name)) continue;
      let start = pair.index + 1;
      while (start < given.length && isBlank(given, start)) start += 1;
      const pattern = TAKES_LINE.test(name) ? LINE : VALUE;
      pattern.lastIndex = start;
      const value = pattern.exec(given)?.[0] ?? "";
      // Base64 ends in one or two of these, and what stands before them is no name.
      if (value === "" || value === "=" || OWN_WORD.test(value)) continue;
      const quote = OPENING_QUOTE.exec(value)?.[0] ?? "";
      shown += `${given.slice(done, start)}${quote}${MASKED}${quote}`;
      done = start + value.length;
      SEPARATOR.lastIndex = done;
    }
    return done === 0 ? given : shown + given.slice(done);
  };
}

export type TextMask = ReturnType<typeof createTextMask>;

/** Masks free text, such as messages and stacks of errors: the shapes of secrets, and the values in pairs. */
export function createTextMask(pairs: PairMask, patterns: SecretPatterns) {
  const masked = (text: string): string => pairs(patterns.mask(text));
  return (text: string, most = MAX_SHOWN_CHARACTERS): string =>
    text.length <= most ? masked(text).slice(0, most) : maskedPrefix(text, most, patterns, masked);
}

/** The name that stands before a separator, in quotes or not; empty where there is none. */
function nameBefore(text: string, separator: number, from: number): string {
  let end = separator;
  while (end > from && isBlank(text, end - 1)) end -= 1;
  const last = text.charCodeAt(end - 1);
  if (end > from && (last === 34 || last === 39)) end -= 1;
  while (end > from && text.charCodeAt(end - 1) === 92) end -= 1;
  let start = end;
  while (start > from && end - start < LONGEST_NAME && isOfName(text.charCodeAt(start - 1))) start -= 1;
  while (start < end && !isLetter(text.charCodeAt(start))) start += 1;
  return text.slice(start, end);
}

function isOfName(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 95 || code === 46 || code === 45;
}

function isLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13) || (code > 127 && BLANK.test(text.charAt(at)));
}
