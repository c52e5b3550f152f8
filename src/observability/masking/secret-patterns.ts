import { isCardNumber, mayHoldCardNumber, replaceCardNumbers } from "./card-numbers.ts";

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
const SHORTEST_SECRET = 8;
/** The shortest text that holds any of them: `://:a@`. */
const SHORTEST_SHAPE = 6;

export type SecretPatterns = ReturnType<typeof createSecretPatterns>;

/**
 * Finds the configured secrets themselves, tokens, keys, passwords in URLs and card numbers. The text may be a stranger's, so
 * every pattern takes linear time.
 */
export function createSecretPatterns(secretValues: readonly string[]) {
  // The longest first: a secret that holds another one must not leave its rest behind.
  const secrets = secretValues
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((one, other) => other.length - one.length);
  const holdsSecret = (text: string): boolean => {
    for (const secret of secrets) if (text.includes(secret)) return true;
    return false;
  };
  return {
    /** In characters, of the configured ones. */
    longestSecret: secrets[0]?.length ?? 0,
    /** Whether a number, as JavaScript writes it, is one. */
    isSecretNumber: (number: string): boolean =>
      (DIGITS.test(number) && isCardNumber(number)) || holdsSecret(number),
    /** Whether there may be one; a text without a hint holds none, nor does any part of it. */
    mayMatch: (text: string): boolean =>
      text.length >= SHORTEST_SHAPE && (hasHint(text) || holdsSecret(text)),
    /** The text with each of them masked. */
    mask(text: string): string {
      if (text.length < SHORTEST_SHAPE) return text;
      let masked = text;
      for (const secret of secrets) {
        if (masked.includes(secret)) masked = masked.replaceAll(secret, MASKED);
      }
      if (!hasHint(masked)) return masked;
      masked = masked
        .replace(PRIVATE_KEY, MASKED)
        .replace(CREDENTIALS, `$1 ${MASKED}`)
        .replace(USER_INFO, `$1${MASKED}@`);
      if (masked.includes("eyJ")) masked = masked.replace(WORD, withoutJwt);
      return replaceCardNumbers(masked, MASKED);
    },
  };
}

/** One pattern for all of them would take several times as long. */
function hasHint(text: string): boolean {
  return HINT.test(text) || CREDENTIALS_HINT.test(text) || mayHoldCardNumber(text);
}

/** A single pattern would look for each `eyJ` again to the word's end; this looks once at each part of a word. */
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
