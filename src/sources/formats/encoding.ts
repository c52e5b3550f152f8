import { fromCanonicalBase64url } from "../../domain/index.ts";

export type SignatureEncoding = "hex" | "base64" | "base64url";

const HEX = /^(?:[0-9a-f]{2})+$/;

/**
 * The bytes of a text, only where it is the one encoding of them. Encodings are lowercase hex, padded base64 (RFC 4648
 * §4) and base64url without padding. Node's decoders stop at or skip what is foreign, so that many texts give the same
 * bytes.
 * @returns undefined for any other text, and for an empty one
 */
export function decodeExactly(text: string, encoding: SignatureEncoding): Buffer | undefined {
  if (text === "") return undefined;
  if (encoding === "hex") return HEX.test(text) ? Buffer.from(text, "hex") : undefined;
  if (encoding === "base64url") return fromCanonicalBase64url(text);
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}
