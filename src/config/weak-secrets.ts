import type { Values } from "./read-variables.ts";

/** Chosen here, so that they can be random. */
const OWN = [
  "SIGNING_SECRET",
  "CALLBACK_TOKEN",
  "JWT_SECRET",
  "ENCRYPTION_KEY",
  "ADMIN_TOKEN",
  "ADMIN_VIEWER_TOKEN",
  "NOTIFY_WEBHOOK_SECRET",
] as const;
/** A weak secret is replaced by rotation, during which it must still be accepted. */
const PREVIOUS = [
  "SIGNING_SECRET_PREVIOUS",
  "CALLBACK_TOKEN_PREVIOUS",
  "JWT_SECRET_PREVIOUS",
  "ENCRYPTION_KEY_PREVIOUS",
] as const;
/** The platform chooses these: short ones exist, but no platform hands out a placeholder. */
const OF_PLATFORM = ["OAUTH_CLIENT_SECRET", "ADMIN_OIDC_CLIENT_SECRET"] as const;

/** Seven letters or more: random text of any usual length holds none of them. */
const PLACEHOLDERS =
  /changeme|changethis|changeit|replaceme|replacethis|replacewith|placeholder|yoursecret|yourtoken|yourown|yourkey|examplesecret|exampletoken|examplekey|mysecret|supersecret|topsecret|notsecret|notasecret|insecure|donotuse|password|passw0rd|p4ssw0rd|letmein|qwertyui/;
/** Of 16 random hexadecimal digits, at most 4 different ones are 4 in ten million. */
const LEAST_CHARACTERS = 5;
/** Of 32 random hexadecimal digits, at most 7 different ones are 4 in a hundred million. */
const LEAST_BYTES = 8;
/** How many neighbours of a hundred count up or down by one in a sequence. */
const SEQUENCE_PERCENT = 75;
const EXPECTED = "expected a random one, such as from: openssl rand";

/** A secret that can be guessed. */
export interface WeakSecret {
  readonly name: string;
  readonly message: string;
  readonly isPrevious: boolean;
}

/** Every configured secret that can be guessed, with what is wrong with it; none of its text. */
export function weakSecrets(values: Values): WeakSecret[] {
  const find = (names: readonly (keyof Values)[], isPrevious: boolean) =>
    names.flatMap((name) => {
      const secrets = [values[name]].flat().filter(isSecret);
      const weakness = secrets.map(weaknessOf).find((one) => one !== undefined);
      if (weakness === undefined) return [];
      const command = name.startsWith("ENCRYPTION_KEY") ? "-base64 32" : "-hex 32";
      return [{ name, message: `got ${weakness}, ${EXPECTED} ${command}`, isPrevious }];
    });
  const ofPlatform = OF_PLATFORM.filter((name) => isPlaceholder(values[name] ?? "")).map((name) => ({
    name,
    message: "got a placeholder, expected the secret that the platform has issued",
    isPrevious: false,
  }));
  return [...find(OWN, false), ...ofPlatform, ...find(PREVIOUS, true)];
}

function isSecret(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array;
}

function weaknessOf(secret: string | Uint8Array): string | undefined {
  if (typeof secret !== "string") return weaknessOfBytes(secret, LEAST_BYTES);
  if (isPlaceholder(secret)) return "a placeholder";
  const [, encoded] = /^whsec_(.+)$/.exec(secret) ?? [];
  return encoded === undefined
    ? weaknessOfBytes(Buffer.from(secret), LEAST_CHARACTERS)
    : weaknessOfBytes(Buffer.from(encoded, "base64"), LEAST_BYTES);
}

function weaknessOfBytes(bytes: Uint8Array, least: number): string | undefined {
  const different = new Set(bytes).size;
  if (different === 1) return bytes[0] === 0 ? "zeros alone" : "one character over and over";
  if (different < least) return `only ${different} different characters`;
  if (isRepetition(bytes)) return "a repeated pattern";
  if (isSequence(bytes)) return "a sequence";
  return isPlaceholder(Buffer.from(bytes).toString("latin1")) ? "a placeholder" : undefined;
}

function isPlaceholder(text: string): boolean {
  return /^<.*>$/.test(text) || PLACEHOLDERS.test(text.toLowerCase().replace(/[^a-z0-9]/g, ""));
}

/** Whether it is a shorter text, at least twice. */
function isRepetition(bytes: Uint8Array): boolean {
  const longest = Math.floor(bytes.length / 2);
  for (let period = 2; period <= longest; period += 1) {
    if (bytes.subarray(period).every((byte, at) => byte === bytes[at])) return true;
  }
  return false;
}

/** Whether it counts up or down: `0123456789abcdef`, or the bytes 0 to 31. */
function isSequence(bytes: Uint8Array): boolean {
  const steps = [...bytes.subarray(1)].map((byte, at) => byte - (bytes[at] ?? 0));
  const share = (step: number) => (100 * steps.filter((one) => one === step).length) / steps.length;
  return share(1) >= SEQUENCE_PERCENT || share(-1) >= SEQUENCE_PERCENT;
}
