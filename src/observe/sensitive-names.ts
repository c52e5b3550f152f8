const HEADER = /auth|token|secret|signature|hmac|-sig$|password|credential|api-?key|cookie|jwt/;

const KEYS = [
  "code",
  "state",
  "pin",
  "pincode",
  "passcode",
  "otp",
  "pwd",
  "cvv",
  "cvv2",
  "cvc",
  "cvc2",
  "securitycode",
  "pan",
  "card",
  "cardnumber",
  "accountnumber",
  "iban",
  "ssn",
];
const SUFFIX =
  /(?:token|secret|password|passwd|passphrase|apikey|privatekey|credentials?|authorization|cookie|signature)$/;

const MOST_REMEMBERED = 1_000;
const LONGEST_REMEMBERED = 64;

/** Tells header names whose values are secrets. Names are in lower case. */
export function sensitiveHeaders(configured: readonly string[]): (name: string) => boolean {
  const names = new Set(configured.map((name) => name.toLowerCase()));
  return remembering((name) => HEADER.test(name) || names.has(name));
}

/** Tells JSON keys and parameters whose values are secrets, however they are written: `cardNumber`, `card_number`. */
export function sensitiveKeys(configured: readonly string[]): (key: string) => boolean {
  const keys = new Set([...KEYS, ...configured.map(plain)]);
  return remembering((key) => {
    const name = plain(key);
    return keys.has(name) || SUFFIX.test(name);
  });
}

/** The short keys and headers of one platform's events repeat; the long ones of a stranger must not pile up here. */
function remembering(decide: (key: string) => boolean): (key: string) => boolean {
  const known = new Map<string, boolean>();
  return (key) => {
    if (key.length > LONGEST_REMEMBERED) return decide(key);
    const before = known.get(key);
    if (before !== undefined) return before;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const sensitive = decide(key);
    known.set(key, sensitive);
    return sensitive;
  };
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[_\-. ]/g, "");
}
