/** A key that may have been meant by a secret, and how the one came of the other. */
export interface SecretVariant {
  readonly key: string | Uint8Array;
  /** In words that follow "the secret". */
  readonly how: string;
}

const HEX = /^(?:[0-9A-Fa-f]{2})+$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const PREFIX = /^(?:whsec|whsk|sk|secret)_/;
const MIN_BYTES = 8;

/** The keys that platforms and people make of one secret, besides its UTF-8 bytes. */
export function secretVariants(secret: string): SecretVariant[] {
  const bare = secret.replace(PREFIX, "");
  return [
    { key: `${secret}\n`, how: "with a line break after it" },
    { key: `${secret}\r\n`, how: "with a Windows line break after it" },
    { key: `${secret} `, how: "with a space after it" },
    { key: ` ${secret}`, how: "with a space before it" },
    { key: `"${secret}"`, how: "with the quotes around it" },
    { key: `'${secret}'`, how: "with the quotes around it" },
    ...(isQuoted(secret) ? [{ key: secret.slice(1, -1), how: "without the quotes around it" }] : []),
    ...decodings(secret),
    ...(bare === secret
      ? [{ key: `whsec_${secret}`, how: "with `whsec_` before it" }]
      : [{ key: bare, how: "without what stands before its `_`" }]),
    { key: Buffer.from(secret).toString("base64"), how: "encoded in base64" },
    { key: Buffer.from(secret).toString("hex"), how: "encoded in hexadecimal" },
    ...(HEX.test(secret) ? [{ key: otherCase(secret), how: "with its letters in the other case" }] : []),
  ].filter(({ key }) => key.length > 0);
}

/** The bytes that a secret may be a writing of; Standard Webhooks takes its own for base64. */
export function decodings(secret: string): SecretVariant[] {
  const bare = secret.replace(PREFIX, "");
  const without = bare === secret ? "" : " without what stands before its `_`,";
  const found: SecretVariant[] = [];
  if (HEX.test(bare))
    found.push({ key: Buffer.from(bare, "hex"), how: `${without} decoded from hexadecimal`.trim() });
  if (BASE64.test(bare))
    found.push({ key: Buffer.from(bare, "base64"), how: `${without} decoded from base64`.trim() });
  return found.filter(({ key }) => key.length >= MIN_BYTES);
}

function isQuoted(secret: string): boolean {
  const [first = ""] = secret;
  return `"'`.includes(first) && secret.endsWith(first);
}

function otherCase(secret: string): string {
  const lower = secret.toLowerCase();
  return secret === lower ? secret.toUpperCase() : lower;
}
