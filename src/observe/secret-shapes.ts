export const MASKED = "[masked]";

const JWT = /eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g;
const CREDENTIALS = /\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]+/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g;
const CARD_LIKE = /(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d.])/g;
const HINT = /eyJ|bearer|basic|PRIVATE KEY|\d(?:[ -]?\d){12}/i;
const SHORTEST_SECRET = 8;

/**
 * Masks what looks like a secret wherever it stands in a text: the configured secrets themselves, tokens, keys and
 * card numbers. Every pattern takes linear time.
 */
export function createShapeMask(secretValues: readonly string[]): (text: string) => string {
  const secrets = secretValues.filter((secret) => secret.length >= SHORTEST_SECRET);
  return (text) => {
    let masked = text;
    for (const secret of secrets) {
      if (masked.includes(secret)) masked = masked.replaceAll(secret, MASKED);
    }
    if (!HINT.test(masked)) return masked;
    return masked
      .replace(PRIVATE_KEY, MASKED)
      .replace(JWT, MASKED)
      .replace(CREDENTIALS, `$1 ${MASKED}`)
      .replace(CARD_LIKE, (digits) => (passesLuhn(digits) ? MASKED : digits));
  };
}

/** The check digit of ISO/IEC 7812-1, annex B: tells a card number from an order number of the same length. */
function passesLuhn(text: string): boolean {
  const digits = text.replace(/[ -]/g, "");
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
