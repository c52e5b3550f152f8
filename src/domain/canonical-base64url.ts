/**
 * The bytes of a base64url text (RFC 4648 §5, without padding), only where it is the one encoding of them. Node's decoder
 * skips foreign characters, takes both alphabets and ignores spare bits (§3.5). So many texts give the same bytes.
 * @returns undefined for any other text
 */
export function fromCanonicalBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}
