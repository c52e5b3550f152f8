/** Header names that never show, besides those that `SENSITIVE_HEADER` recognises. */
const HEADERS = ["cookie", "set-cookie", "x-signature", "x-api-key"];
const SENSITIVE_HEADER = /auth|token|secret|signature|password|credential|api-?key|cookie/;

const KEYS = [
  "code",
  "state",
  "pin",
  "otp",
  "cvv",
  "cvc",
  "cvv2",
  "pan",
  "ssn",
  "iban",
  "authorization",
  "cookie",
  "signature",
  "card",
  "cardnumber",
  "accountnumber",
];
const SUFFIX = /(?:token|secret|password|passwd|passphrase|apikey|privatekey|credentials?)$/;

/** Tells header names whose values are secrets. Names are in lower case. */
export function sensitiveHeaders(configured: readonly string[]): (name: string) => boolean {
  const names = new Set([...HEADERS, ...configured.map((name) => name.toLowerCase())]);
  return (name) => names.has(name) || SENSITIVE_HEADER.test(name);
}

/** Tells JSON keys and parameters whose values are secrets, however they are written: `cardNumber`, `card_number`. */
export function sensitiveKeys(configured: readonly string[]): (key: string) => boolean {
  const keys = new Set([...KEYS, ...configured.map(plain)]);
  const known = new Map<string, boolean>();
  return (key) => {
    let sensitive = known.get(key);
    if (sensitive === undefined) {
      const name = plain(key);
      sensitive = keys.has(name) || SUFFIX.test(name);
      // The keys of one platform's events repeat; those of a flood of strangers must not pile up.
      if (known.size < 1_000) known.set(key, sensitive);
    }
    return sensitive;
  };
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[_\-. ]/g, "");
}
