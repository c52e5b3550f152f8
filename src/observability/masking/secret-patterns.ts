import type { SecretValues } from "./secret-values.ts";

export const MASKED = "[masked]";

const WORD = /[\w.-]+/g;
const JWT = /eyJ[\w-]+\.[\w-]+\./y;
const CREDENTIALS = /(?<![A-Za-z])(Bearer|Basic)[ \t]+[^\s"'\\,;<>[\]]+/gi;
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g;
const USER_INFO = /(:\/\/[^\s/:@"]*:)[^\s/@"]+@/g;
const HINT = /eyJ|PRIVATE KEY|:\/\//;
const CREDENTIALS_HINT = /bearer|basic/i;
const DIGITS = /^\d+$/;
/** The shortest text that holds any of them: `://:a@`. */
const SHORTEST_SHAPE = 6;

export type SecretPatterns = ReturnType<typeof createSecretPatterns>;

/**
 * Finds the configured secrets themselves, tokens, keys, passwords in URLs and card numbers. The text may be any client's, so
 * every pattern takes linear time.
 */
export function createSecretPatterns(secrets: SecretValues) {
  const holdsSecret = (text: string): boolean => {
    for (const secret of secrets.longestFirst) if (text.includes(secret)) return true;
    return false;
  };
  return {
    secrets,
    /** Whether a number, as JavaScript writes it, is one. */
    isSecretNumber: (number: string): boolean => (DIGITS.test(number) && isCardNumber(number)) || holdsSecret(number),
    /** Whether there may be one; a text without a hint holds none, nor does any part of it. */
    mayMatch: (text: string): boolean => text.length >= SHORTEST_SHAPE && (hasHint(text) || holdsSecret(text)),
    mask(text: string): string {
      if (text.length < SHORTEST_SHAPE) return text;
      let masked = text;
      for (const secret of secrets.longestFirst) {
        if (masked.includes(secret)) masked = masked.replaceAll(secret, MASKED);
      }
      if (!hasHint(masked)) return masked;
      masked = masked
        .replace(PRIVATE_KEY, MASKED)
        .replace(CREDENTIALS, `$1 ${MASKED}`)
        .replace(USER_INFO, `$1${MASKED}@`);
      if (masked.includes("eyJ")) masked = masked.replace(WORD, withoutJwt);
      return masked.replace(CANDIDATE, (run: string, other: string | undefined) =>
        other === undefined ? withoutCards(run) : run,
      );
    },
  };
}

/** One pattern for all of them would take several times as long. */
function hasHint(text: string): boolean {
  return HINT.test(text) || CREDENTIALS_HINT.test(text) || mayHoldCardNumber(text);
}

/** A single pattern would look for each `eyJ` again to the word's end. This looks once at each part of a word. */
function withoutJwt(word: string): string {
  let start = word.indexOf("eyJ");
  while (start !== -1) {
    JWT.lastIndex = start;
    if (JWT.test(word)) return word.slice(0, start) + MASKED;
    const dot = word.indexOf(".", start);
    start = dot === -1 ? -1 : word.indexOf("eyJ", dot);
  }
  return word;
}

const SHORTEST_CARD = 13;
const LONGEST_CARD = 19;
const ZERO = 48;
/** Cards are printed in groups that begin with four digits or more; shorter first groups are telephone numbers. */
const SHORTEST_FIRST_GROUP = 4;

/** UUIDs, hexadecimal digests and amounts with many places hold long runs of digits too, and are passed over. */
const NO_CARD = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{24,}|(?<!\\d[ -]?)\\d{1,12}\\.\\d+";
const DIGIT_RUN = "(?<!\\d)\\d(?:[ -]?\\d){12,}";
const CANDIDATE = new RegExp(`(${NO_CARD})|${DIGIT_RUN}`, "gi");

/** No issuer's numbers begin with 0; 13, 16 or 19 digits after a leading 1 are milli-, micro- or nanoseconds. */
const NO_ISSUER = /^(?:0|1(?:\d{12}|\d{15}|\d{18})$)/;

/** Whether there are so many digits with nothing but blanks and hyphens between. It looks at one character in thirteen. */
function mayHoldCardNumber(text: string): boolean {
  for (let at = SHORTEST_CARD - 1; at < text.length; at += SHORTEST_CARD) {
    if (!isOfRun(text.charCodeAt(at))) continue;
    let start = at;
    while (start > 0 && isOfRun(text.charCodeAt(start - 1))) start -= 1;
    let digits = 0;
    for (at = start; at < text.length && isOfRun(text.charCodeAt(at)); at += 1) {
      if (text.charCodeAt(at) >= ZERO) digits += 1;
      if (digits === SHORTEST_CARD) return true;
    }
  }
  return false;
}

function isOfRun(code: number): boolean {
  return (code >= ZERO && code < ZERO + 10) || code === 32 || code === 45;
}

/** Masks the card numbers in a run of digits. They may be in groups, and other numbers may stand beside them. */
function withoutCards(run: string): string {
  const groups = run.split(/([ -])/);
  let replaced = "";
  for (let index = 0; index < groups.length; index += 1) {
    const end = index % 2 === 0 ? endOfCard(groups, index) : undefined;
    replaced += end === undefined ? groups[index] : MASKED;
    index = end ?? index;
  }
  return replaced;
}

/** The end of the longest card number that begins with this group; digits stand at even places. */
function endOfCard(groups: readonly string[], start: number): number | undefined {
  const mayStandBeside = (groups[start] ?? "").length >= SHORTEST_FIRST_GROUP;
  if (!mayStandBeside && start > 0) return undefined;
  let digits = "";
  let end: number | undefined;
  for (let index = start; index < groups.length; index += 2) {
    digits += groups[index];
    if (digits.length > LONGEST_CARD) break;
    const isWhole = index === groups.length - 1;
    if ((mayStandBeside || isWhole) && isCardNumber(digits)) end = index;
  }
  return end;
}

/** The check digit of ISO/IEC 7812-1, annex B, tells a card number from most order numbers of its length. */
function isCardNumber(digits: string): boolean {
  if (digits.length < SHORTEST_CARD || digits.length > LONGEST_CARD || NO_ISSUER.test(digits)) return false;
  let sum = 0;
  let isDoubled = false;
  for (let index = digits.length - 1; index >= 0; index -= 1) {
    const digit = digits.charCodeAt(index) - ZERO;
    const weighted = isDoubled ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
    isDoubled = !isDoubled;
  }
  return sum % 10 === 0;
}
