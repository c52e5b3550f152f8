import { WHSEC } from "./secret-keys.ts";

/** Seven letters or more: random text of any usual length holds none of them. */
const PLACEHOLDERS =
  /changeme|changethis|changeit|replaceme|replacethis|replacewith|placeholder|yoursecret|yourtoken|yourown|yourkey|examplesecret|exampletoken|examplekey|mysecret|supersecret|topsecret|notsecret|notasecret|insecure|donotuse|password|passw0rd|p4ssw0rd|letmein|qwertyui/;
/** A template's braces, and what else stands for the value of a variable: `$NAME`, `%NAME%`, `NAME_SECRET`, `process.env.NAME`. */
const UNEXPANDED =
  /\$\{\s*\w|\{\{|^\$\(|^\$[A-Z_][A-Z0-9_]*$|^%[A-Z_][A-Z0-9_]*%$|^[A-Z][A-Z0-9_]*_(?:SECRET|TOKEN|KEY|PASSWORD)(?:_PREVIOUS|_OLD|_\d)?$|^(?:process\.env|import\.meta\.env|os\.environ)\b|^op:\/\//;
/** Of text that is nothing but these, and a few characters, everybody thinks. */
const COMMON =
  /secret|token|key|password|webhook|signing|signature|verif(?:y|ication)|client|endpoint|hmac|auth|access|shared|your|test(?:ing)?|fake|dummy|sample|example|default|insert|enter|here|this|that|todo|fixme|value|string|random|production|development|staging|local|live|change|replace|with|from|for|the|put|set|my|api|app/g;
const PRINTABLE = /^[ -~]*$/;
const MOST_UNCOMMON = 3;
/** Of 16 random hexadecimal digits, at most 4 different ones are 4 in ten million. */
const MIN_CHARACTERS = 5;
/** Of 32 random hexadecimal digits, at most 7 different ones are 4 in a hundred million. */
const MIN_BYTES = 8;
/** How many neighbours of a hundred count up or down by one in a sequence. */
const SEQUENCE_PERCENT = 75;
/** Twitch takes no shorter one; the shortest that a platform gives out are Dropbox's 15 and LinkedIn's 16 characters. */
const MIN_ISSUED = 10;
/** The text that stands for a variable that is not set. */
const UNSET = /^(?:undefined|null|none|nil|nan|true|false|\[object \w+\])$/i;

export interface IssuedWeakness {
  readonly message: string;
  /** It may be what was meant, and can be guessed; otherwise it is a mistake. */
  readonly isGuessable: boolean;
}

/** The fault of the text of a platform's secret; undefined for none. @param names of its source and tenant */
export function issuedWeakness(secret: string, names: readonly string[]): IssuedWeakness | undefined {
  const text = secret.replace(WHSEC, "");
  const isName = names.some((name) => name.toLowerCase() === text.toLowerCase());
  const mistake =
    (UNSET.test(text) ? `the text "${text}", as of a variable that is not set` : undefined) ??
    (UNEXPANDED.test(text) ? "a variable that is not expanded" : undefined) ??
    (isPlaceholder(text) ? "a placeholder" : undefined) ??
    (isName ? "the name of its source or tenant" : undefined);
  const guessable =
    (text.length < MIN_ISSUED ? `a length of ${text.length}` : undefined) ??
    (isCommon(text, names) ? "a placeholder" : undefined) ??
    weaknessOfBytes(Buffer.from(text), MIN_CHARACTERS);
  const got = mistake ?? guessable;
  if (got === undefined) return undefined;
  const expected = `expected the secret that the platform shows, or a random one of at least ${MIN_ISSUED} characters`;
  return { message: `got ${got}, ${expected}`, isGuessable: mistake === undefined };
}

/** Whether it is made of common words and of the names of its source and tenant. */
function isCommon(text: string, names: readonly string[]): boolean {
  const withoutNames = names.reduce((rest, name) => rest.replaceAll(lettersOf(name), ""), lettersOf(text));
  return withoutNames.replace(COMMON, "").length <= MOST_UNCOMMON;
}

const lettersOf = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Why a secret that an operator makes can be guessed, in words that follow "got"; undefined where it cannot. */
export function weaknessOf(secret: string | Uint8Array): string | undefined {
  if (typeof secret !== "string") return weaknessOfBytes(secret, MIN_BYTES);
  if (isPlaceholder(secret)) return "a placeholder";
  return WHSEC.test(secret)
    ? weaknessOfBytes(Buffer.from(secret.replace(WHSEC, ""), "base64"), MIN_BYTES)
    : weaknessOfBytes(Buffer.from(secret), MIN_CHARACTERS);
}

function weaknessOfBytes(bytes: Uint8Array, min: number): string | undefined {
  const different = new Set(bytes).size;
  if (different === 1) return bytes[0] === 0 ? "zeros alone" : "one character over and over";
  if (different < min) return `only ${different} different characters`;
  const text = Buffer.from(bytes).toString("latin1");
  if (isRepetition(text)) return "a repeated pattern";
  if (isSequence(bytes)) return "a sequence";
  // Of random bytes, one key in 1,700 has two braces somewhere.
  const isGuessed = PRINTABLE.test(text) ? isPlaceholder(text) : hasPlaceholder(text);
  return isGuessed ? "a placeholder" : undefined;
}

export function isPlaceholder(text: string): boolean {
  return /^<.*>$/.test(text) || UNEXPANDED.test(text) || hasPlaceholder(text);
}

const hasPlaceholder = (text: string) => PLACEHOLDERS.test(lettersOf(text));

function isRepetition(text: string): boolean {
  for (let period = 2; period <= text.length / 2; period += 1) if (text.startsWith(text.slice(period))) return true;
  return false;
}

function isSequence(bytes: Uint8Array): boolean {
  const steps = [...bytes.subarray(1)].map((byte, at) => byte - (bytes[at] ?? 0));
  const share = (step: number) => (100 * steps.filter((one) => one === step).length) / steps.length;
  return share(1) >= SEQUENCE_PERCENT || share(-1) >= SEQUENCE_PERCENT;
}
