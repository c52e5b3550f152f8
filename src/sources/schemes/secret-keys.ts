import { OptionError, optionError } from "../option-error.ts";
import type { KeyFormat } from "./hmac-data.ts";

export interface SecretKey {
  readonly key: Uint8Array;
  /** The index of its secret among the configured ones. */
  readonly index: number;
}

/** The secrets' keys, in the order given; bytes are a key as they are. @throws TypeError, without the secret's text */
export function keysOf(secrets: readonly (string | Uint8Array)[], format?: KeyFormat): Uint8Array[] {
  return indexedKeysOf(secrets, format).map(({ key }) => key);
}

/** The keys of secrets, each of which may be several. @throws TypeError, without the secret's text */
export function indexedKeysOf(secrets: readonly (string | Uint8Array)[], format: KeyFormat = "text"): SecretKey[] {
  if (secrets.length === 0) throw optionError("secret", "none", "at least one");
  return secrets.flatMap((secret, index) => {
    const place = { option: "secret", place: { index, of: secrets.length } };
    const decodedKeys = typeof secret === "string" ? decoded(assertSecret(secret, place), format) : secret;
    const keys = [decodedKeys].flat().filter((key) => key !== undefined);
    if (keys.length === 0) throw new OptionError({ ...place, expected: expectation(format) });
    // An empty key makes signatures that everybody can make.
    if (keys.some((key) => key.length === 0))
      throw new OptionError({ ...place, got: "an empty key", expected: "at least one byte" });
    return keys.map((key) => ({ key, index }));
  });
}

/** @throws TypeError where a text is none, or has what was pasted along with it */
export function assertSecret(
  secret: string,
  at: Pick<OptionError, "option"> & Partial<Pick<OptionError, "place">> = { option: "secret" },
): string {
  if (secret === "") throw new OptionError({ ...at, got: "an empty text", expected: "what the platform shows" });
  if (secret.trim() !== secret)
    throw new OptionError({ ...at, got: "a text with white space or a newline around it; remove it" });
  return secret;
}

function expectation(format: KeyFormat): string {
  if (format === "hex") return "an even number of hexadecimal digits";
  if (format === "whsec") return "base64, with or without `whsec_` before it";
  return typeof format === "string" ? format : "what the platform shows";
}

const HEX = /^(?:[0-9A-Fa-f]{2})+$/;
/** The prefix of a secret of Standard Webhooks; Supabase and Svix show it with the version of the signature. */
export const WHSEC = /^(?:v1,)?whsec_/;

function decoded(secret: string, format: KeyFormat): ReturnType<Exclude<KeyFormat, string>> {
  if (typeof format === "function") return format(secret);
  if (format === "text") return Buffer.from(secret, "utf8");
  if (format === "hex") return HEX.test(secret) ? Buffer.from(secret, "hex") : undefined;
  if (format === "base64url") return unpadded(secret, "base64url");
  if (format === "base64") return unpadded(secret, "base64");
  return whsecKey(secret);
}

/** Standard Webhooks: base64 after an optional `whsec_` or `v1,whsec_`. @returns undefined for any other text */
export function whsecKey(secret: string): Buffer | undefined {
  return unpadded(secret.replace(WHSEC, ""), "base64");
}

/** Node's decoder skips what it does not know, so that a text in another format would give some key. */
function unpadded(text: string, encoding: "base64" | "base64url"): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  const [bare = ""] = bytes.toString(encoding).split("=", 1);
  const padding = "=".repeat((4 - (bare.length % 4)) % 4);
  return text === bare || text === bare + padding ? bytes : undefined;
}
