import { replaceCardNumbers } from "./card-numbers.ts";

export const MASKED = "[masked]";

const WORD = /[\w.-]+/g;
const JWT = /eyJ[\w-]+\.[\w-]+\./y;
const CREDENTIALS = /(?<![A-Za-z])(Bearer|Basic)[ \t]+[^\s"'\\,;<>[\]]+/gi;
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g;
const USER_INFO = /(:\/\/[^\s/:@"]*:)[^\s/@"]+@/g;
const HINT = /eyJ|bearer|basic|PRIVATE KEY|:\/\/|\d(?:[ -]?\d){12}/i;
const SHORTEST_SECRET = 8;

/**
 * Masks what looks like a secret wherever it stands in a text: the configured secrets themselves, tokens, keys,
 * passwords in URLs and card numbers. The text may be a stranger's, so every pattern takes linear time.
 */
export function createShapeMask(secretValues: readonly string[]): (text: string) => string {
  // The longest first: a secret that holds another one must not leave its rest behind.
  const secrets = secretValues
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((one, other) => other.length - one.length);
  return (text) => {
    let masked = text;
    for (const secret of secrets) {
      if (masked.includes(secret)) masked = masked.replaceAll(secret, MASKED);
    }
    if (!HINT.test(masked)) return masked;
    masked = masked
      .replace(PRIVATE_KEY, MASKED)
      .replace(CREDENTIALS, `$1 ${MASKED}`)
      .replace(USER_INFO, `$1${MASKED}@`);
    if (masked.includes("eyJ")) masked = masked.replace(WORD, withoutJwt);
    return replaceCardNumbers(masked, MASKED);
  };
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
