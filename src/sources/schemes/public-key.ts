import { type Clock, isRefused, type Refused } from "../../domain/index.ts";
import { decodeExactly, type SignatureEncoding } from "../formats/encoding.ts";
import { OptionError, optionError } from "../option-error.ts";
import type { SignedRequest } from "../request.ts";
import type { TimestampRule } from "./hmac-data.ts";
import { type Content, SECRET } from "./keyed-digest.ts";
import { isSignedBy, namedPublicKey, type SignatureAlgorithm } from "./public-keys.ts";
import { malformed, refuse, type Scheme } from "./scheme.ts";
import { compileContent } from "./signed-content.ts";
import { compileTimestamp, type SentTimestamp } from "./timestamp.ts";

/** How a platform signs with a private key whose public one is configured, as data. */
export interface PublicKeyData {
  /** The one that is accepted, whatever a callback says. */
  readonly algorithm: SignatureAlgorithm;
  /** The encoding of a key that is not PEM. An Ed25519 key is its 32 bytes, any other the SPKI. Default: base64. */
  readonly key?: "hex" | "base64";
  readonly signature: {
    readonly header: string;
    readonly encoding: SignatureEncoding;
    /** The exact text before it. */
    readonly prefix?: string;
    /** Of ECDSA: ASN.1 (the default), or r and s after each other. */
    readonly format?: "der" | "p1363";
    /** Takes the signature's text out of a header that holds more (Antom); undefined where there is none. */
    readonly extract?: (value: string) => string | undefined;
  };
  /** The header that names the key by its id. No other key is tried then, and each key must have one. */
  readonly keyId?: string;
  /** A template as of `HmacData.signed`, without `{secret}`. */
  readonly signed: string;
  readonly timestamp?: TimestampRule;
}

/** A key with the id by which the platform names it. */
export interface IdentifiedKey {
  readonly id: string;
  readonly key: string;
}

export interface PublicKeyOptions {
  /** The current key first, then those that are being rotated out. */
  readonly keys: readonly (string | IdentifiedKey)[];
  /** The option that holds them, for an error. Default: `publicKey`. */
  readonly option?: string;
  readonly clock: Clock;
  /** Scheme and host that the platform has registered, without a path; asked where `{url}` is signed. */
  readonly origin?: (() => string) | undefined;
}

/** Longer than any signature of these algorithms: RSA with 16384 bits, in hex. */
const MAX_SIGNATURE_LENGTH = 4_096;

/**
 * Signatures with a private key of the platform. Everything but the signature's check is done once, here.
 * @throws TypeError for data that contradicts itself and for a key that does not fit it; the message says which key
 */
export function createPublicKeyScheme(
  data: PublicKeyData,
  { keys, option = "publicKey", clock, origin }: PublicKeyOptions,
): Scheme {
  const { algorithm, signature, signed } = data;
  const { header, format = "der" } = signature;
  const { content, time } = compilePublicKeyData(data, origin);
  const publicKeys = readKeys(keys, option, data);
  return {
    challenge: `Signature realm="callbacks", algorithm="${algorithm}", header="${header}"`,
    isCostly: true,
    verify(request) {
      const claimed = claimedSignature(request, data);
      if (!Buffer.isBuffer(claimed)) return claimed;
      let sent: SentTimestamp | undefined;
      if (time !== undefined) {
        const read = time.read(request.headers, undefined);
        if ("kind" in read) return read;
        sent = read;
      }
      const bytes = content.read?.(request, sent?.text) ?? request.body;
      if (isRefused(bytes)) return bytes;
      const id = namedKey(request, data);
      if (typeof id === "object") return id;
      const signedContent = { content: partsOf(bytes), signature: claimed, format };
      const index = publicKeys.findIndex(
        (one) => (id === undefined || one.id === id) && isSignedBy(one.key, algorithm, signedContent),
      );
      if (index === -1) {
        const isKnown = id === undefined || publicKeys.some((one) => one.id === id);
        const reason = isKnown ? `made with another key, or over other than ${signed}` : "no such key";
        return refuse("signature_mismatch", `\`${isKnown ? header : data.keyId}\`: ${reason}`);
      }
      const stale = sent && time?.staleness?.(sent, clock.now());
      if (stale !== undefined) return stale;
      const verified = [{ method: "public_key", index }] as const;
      if (content.read === undefined) return { verified };
      return {
        verified,
        signedText: (body, hasTime) => content.text(request, body, hasTime ? (sent?.text ?? "") : undefined),
      };
    },
  };
}

/** The parts that follow from the data, and from no key. @throws OptionError for data that contradicts itself */
export function compilePublicKeyData(data: PublicKeyData, origin: PublicKeyOptions["origin"]) {
  const content = compileContent(data.signed, { origin });
  const time = compileTimestamp(data);
  if (content.hasTimestamp && time === undefined) throw optionError("signed", "{timestamp}", "`timestamp` beside it");
  if (content.holdsKey) throw optionError("signed", "{secret}, which a signature with a private key has not");
  return { content, time };
}

function readKeys(keys: PublicKeyOptions["keys"], option: string, data: PublicKeyData) {
  const { algorithm, key: encoding = "base64", keyId } = data;
  if (keys.length === 0) throw optionError(option, "none", "at least one");
  return keys.map((one, index) => {
    const { id, key } = typeof one === "string" ? { id: undefined, key: one } : one;
    const at = id === undefined ? { option, place: { index, of: keys.length } } : { option: `${option}.${id}` };
    if ((id ?? "") === "" && keyId !== undefined)
      throw new OptionError({ ...at, got: "no id", expected: `the one that ${keyId} names` });
    return { id, key: namedPublicKey(at, key, algorithm, encoding) };
  });
}

/** The id of the key that is claimed; undefined where the platform names none. */
function namedKey({ headers }: SignedRequest, { keyId }: PublicKeyData): string | Refused | undefined {
  if (keyId === undefined) return undefined;
  const values = headers[keyId.toLowerCase()] ?? [];
  if (values.length === 1) return values[0];
  return malformed(`\`${keyId}\`: stands ${values.length} times, expected once`);
}

function claimedSignature({ headers }: SignedRequest, data: PublicKeyData): Buffer | Refused {
  const { header, encoding, prefix = "", extract } = data.signature;
  const values = headers[header.toLowerCase()] ?? [];
  const [value = ""] = values;
  if (values.length > 1)
    return refuse("signature_repeated", `\`${header}\`: stands ${values.length} times, expected once`);
  if (value === "") return refuse("signature_missing", `\`${header}\`: missing; expected a signature`);
  const isFit = value.length <= MAX_SIGNATURE_LENGTH && value.startsWith(prefix);
  const text = isFit ? value.slice(prefix.length) : "";
  const signature = decodeExactly(extract === undefined ? text : (extract(text) ?? ""), encoding);
  const before = prefix === "" ? "" : `\`${prefix}\` and `;
  return signature ?? malformed(`\`${header}\`: expected ${before}a signature in ${encoding}`);
}

function partsOf(content: Content): Uint8Array[] {
  if (content instanceof Uint8Array) return [content];
  return content.map((piece) => {
    if (piece === SECRET) throw new TypeError("a signature with a private key covers no secret");
    return typeof piece === "string" ? Buffer.from(piece, "latin1") : piece;
  });
}
