import { type Clock, isRefused, type Refused } from "../../domain/index.ts";
import { decodeExactly } from "./encoding.ts";
import type { SignatureEncoding, TimestampRule } from "./hmac-data.ts";
import { type Refuse, refusalsOf } from "./hmac-refusal.ts";
import { type Content, SECRET } from "./keyed-digest.ts";
import { importPublicKey, isSignedBy, type SignatureAlgorithm } from "./public-keys.ts";
import type { Scheme, SignedRequest } from "./scheme.ts";
import { compileContent } from "./signed-content.ts";
import { compileTimestamp, type SentTimestamp } from "./timestamp.ts";

/** How a platform signs with a private key whose public one is configured, as data. */
export interface PublicKeyData {
  /** The one that is accepted, whatever a callback says. */
  readonly algorithm: SignatureAlgorithm;
  /** How a key's text is written where it is not PEM: of an Ed25519 key its 32 bytes, of others the SPKI. Default: base64. */
  readonly key?: "hex" | "base64";
  readonly signature: {
    readonly header: string;
    readonly encoding: SignatureEncoding;
    /** What precedes it, to the letter. */
    readonly prefix?: string;
    /** Of ECDSA: ASN.1 (the default), or r and s after each other. */
    readonly format?: "der" | "p1363";
  };
  /** A template as of `HmacData.signed`, without `{secret}`. */
  readonly signed: string;
  readonly timestamp?: TimestampRule;
}

export interface PublicKeyOptions {
  /** The current key first, then those that are being rotated out. */
  readonly keys: readonly string[];
  readonly clock: Clock;
  /** Scheme and host that the platform has registered, without a path; asked where `{url}` is signed. */
  readonly origin?: () => string;
}

/** Longer than any signature of these algorithms: RSA with 16384 bits, in hex. */
const MAX_SIGNATURE_LENGTH = 4_096;

/**
 * Signatures with a private key of the platform. Everything but the signature's check is done once, here.
 * @throws TypeError for data that contradicts itself and for a key that does not fit it; the message says which key
 */
export function createPublicKeyScheme(
  data: PublicKeyData,
  { keys, clock, origin }: PublicKeyOptions,
): Scheme {
  const { algorithm, signature, signed } = data;
  const { header, format = "der" } = signature;
  const refuse = refusalsOf({});
  const known = readKeys(keys, data);
  const content = compileContent(signed, { origin, refuse });
  const time = compileTimestamp(data, clock, refuse);
  if (content.hasTimestamp && time === undefined)
    throw new TypeError("signed: got {timestamp}, expected `timestamp` beside it");
  if (content.holdsKey)
    throw new TypeError("signed: got {secret}, which a signature with a private key has not");
  return {
    challenge: `Signature realm="callbacks", algorithm="${algorithm}", header="${header}"`,
    isCostly: true,
    verify(request) {
      const claimed = claimedSignature(request, data, refuse);
      if (!Buffer.isBuffer(claimed)) return claimed;
      let sent: SentTimestamp | undefined;
      if (time !== undefined) {
        const read = time.read(request.headers, undefined);
        if ("kind" in read) return read;
        sent = read;
      }
      const bytes = content.read?.(request, sent?.text) ?? request.body;
      if (isRefused(bytes)) return bytes;
      const signedContent = { content: partsOf(bytes), signature: claimed, format };
      const index = known.findIndex((key) => isSignedBy(key, algorithm, signedContent));
      if (index === -1)
        return refuse("signature_mismatch", `${header}: made with another key, or over other than ${signed}`);
      const stale = sent && time?.staleness?.(sent);
      return stale ?? { verified: [{ method: "public_key", index }] };
    },
  };
}

function readKeys(keys: readonly string[], { algorithm, key: encoding = "base64" }: PublicKeyData) {
  if (keys.length === 0) throw new TypeError("public key: got none, expected at least one");
  return keys.map((text, place) => {
    try {
      return importPublicKey(text, algorithm, encoding);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TypeError(`public key ${place + 1}: ${reason}`, { cause });
    }
  });
}

function claimedSignature({ headers }: SignedRequest, data: PublicKeyData, refuse: Refuse): Buffer | Refused {
  const { header, encoding, prefix = "" } = data.signature;
  const values = headers[header.toLowerCase()] ?? [];
  const [value = ""] = values;
  if (values.length > 1)
    return refuse("signature_repeated", `${header}: stands ${values.length} times, expected once`);
  if (value === "") return refuse("signature_missing", `${header}: missing; expected a signature`);
  const isFit = value.length <= MAX_SIGNATURE_LENGTH && value.startsWith(prefix);
  const signature = isFit ? decodeExactly(value.slice(prefix.length), encoding) : undefined;
  const before = prefix === "" ? "" : `\`${prefix}\` and `;
  return (
    signature ?? refuse("signature_malformed", `${header}: expected ${before}a signature in ${encoding}`)
  );
}

function partsOf(content: Content): Uint8Array[] {
  if (content instanceof Uint8Array) return [content];
  return content.map((piece) => {
    if (piece === SECRET) throw new TypeError("a signature with a private key covers no secret");
    return typeof piece === "string" ? Buffer.from(piece, "latin1") : piece;
  });
}
