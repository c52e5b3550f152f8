import { constants, createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import { errorReason } from "../../domain/index.ts";
import { decodeExactly } from "../formats/encoding.ts";
import { OptionError } from "../option-error.ts";

/** Of the signature; a key's own type must fit. Of RSA, `pss` has a salt as long as its digest. */
export type SignatureAlgorithm =
  | "ed25519"
  | "ecdsa-p256-sha1"
  | "ecdsa-p256-sha256"
  | "rsa-sha1"
  | "rsa-sha256"
  | "rsa-sha512"
  | "rsa-pss-sha256"
  | "rsa-pss-sha512";

export type KeyKind = "rsa" | "p256" | "ed25519";

/** RFC 7518 §3.3 and §3.5. */
const MIN_RSA_BITS = 2_048;

/** The expected kind of a key, in words. */
export function expectedKey(kind: KeyKind): string {
  if (kind === "p256") return "an EC key on P-256";
  if (kind === "ed25519") return "an Ed25519 key";
  return `an RSA key of at least ${MIN_RSA_BITS} bits`;
}

/** The kind of a key that is not the expected one. An RSA key only for PSS is of none: WebCrypto takes none. */
export function keyMismatch(key: KeyObject, kind: KeyKind): string | undefined {
  const { asymmetricKeyType: type = "a secret", asymmetricKeyDetails = {} } = key;
  const { namedCurve, modulusLength } = asymmetricKeyDetails;
  const fits = {
    rsa: type === "rsa" && (modulusLength ?? 0) >= MIN_RSA_BITS,
    p256: type === "ec" && namedCurve === "prime256v1",
    ed25519: type === "ed25519",
  }[kind];
  if (fits) return undefined;
  return [type, namedCurve, modulusLength && `${modulusLength} bits`].filter(Boolean).join(" ");
}

function keyKind(algorithm: SignatureAlgorithm): KeyKind {
  if (algorithm === "ed25519") return "ed25519";
  return algorithm.startsWith("ecdsa-p256") ? "p256" : "rsa";
}

/** RFC 8410 §4: what precedes the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo. */
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");
const ED25519_BYTES = 32;
const PEM = /^\s*-----BEGIN /;
export const PRIVATE_PEM = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----/;

/**
 * A public key as platforms show it: PEM (a key or a certificate), or hex or base64. Those encode its
 * SubjectPublicKeyInfo, or the 32 bytes of an Ed25519 key.
 * @throws Error that says what was found and expected; it never shows the text
 */
function importPublicKey(text: string, algorithm: SignatureAlgorithm, encoding: "hex" | "base64"): KeyObject {
  const kind = keyKind(algorithm);
  if (PRIVATE_PEM.test(text)) throw new Error("is a private key; expected the public one alone");
  const key = PEM.test(text) ? readPem(text) : readBytes(text.trim(), kind, encoding);
  const got = keyMismatch(key, kind);
  if (got !== undefined) throw new Error(`got ${got}, expected ${expectedKey(kind)}`);
  return key;
}

/** A public key of an option. @throws OptionError for a text that holds none */
export function namedPublicKey(
  at: Pick<OptionError, "option"> & Partial<Pick<OptionError, "place">>,
  ...key: Parameters<typeof importPublicKey>
): KeyObject {
  try {
    return importPublicKey(...key);
  } catch (cause) {
    throw new OptionError({ ...at, problem: errorReason(cause) }, { cause });
  }
}

/** A key, or that of a certificate. @param name before the message @throws Error */
export function readPem(text: string, name?: string): KeyObject {
  try {
    return CERTIFICATE.test(text) ? new X509Certificate(text).publicKey : createPublicKey(text);
  } catch (cause) {
    const before = name === undefined ? "" : `${name} `;
    throw new Error(`${before}cannot be read as a public key or a certificate in PEM`, { cause });
  }
}

function readBytes(text: string, kind: KeyKind, encoding: "hex" | "base64"): KeyObject {
  const bytes = decodeExactly(encoding === "hex" ? text.toLowerCase() : text, encoding);
  if (bytes === undefined) throw new Error(`is neither PEM nor ${encoding}; expected ${expectedKey(kind)}`);
  const isRaw = kind === "ed25519" && bytes.length === ED25519_BYTES;
  const key = isRaw ? Buffer.concat([ED25519_SPKI, bytes]) : bytes;
  try {
    return createPublicKey({ key, format: "der", type: "spki" });
  } catch (cause) {
    throw new Error(`its ${bytes.length} bytes are no public key; expected ${expectedKey(kind)}`, { cause });
  }
}

export interface SignedContent {
  readonly content: readonly Uint8Array[];
  readonly signature: Uint8Array;
  /** Of ECDSA: ASN.1 (the default), or r and s after each other as in JOSE and RFC 9421. */
  readonly format?: "der" | "p1363";
}

const DIGESTS = {
  ed25519: null,
  "ecdsa-p256-sha1": "sha1",
  "ecdsa-p256-sha256": "sha256",
  "rsa-sha1": "sha1",
  "rsa-sha256": "sha256",
  "rsa-sha512": "sha512",
  "rsa-pss-sha256": "sha256",
  "rsa-pss-sha512": "sha512",
} as const satisfies Record<SignatureAlgorithm, string | null>;

/** All of them, for messages. */
export const SIGNATURE_ALGORITHMS = Object.keys(DIGESTS) as readonly SignatureAlgorithm[];

/** Whether this key made the signature. A key that does not fit the algorithm made none. */
export function isSignedBy(
  key: KeyObject,
  algorithm: SignatureAlgorithm,
  { content, signature, format = "der" }: SignedContent,
): boolean {
  const [first = Buffer.of(), ...others] = content;
  const bytes = others.length === 0 ? first : Buffer.concat(content);
  const { RSA_PKCS1_PSS_PADDING: pss, RSA_PKCS1_PADDING: pkcs1, RSA_PSS_SALTLEN_DIGEST } = constants;
  const scheme = {
    rsa: algorithm.startsWith("rsa-pss") ? { padding: pss, saltLength: RSA_PSS_SALTLEN_DIGEST } : { padding: pkcs1 },
    p256: { dsaEncoding: format === "der" ? ("der" as const) : ("ieee-p1363" as const) },
    ed25519: {},
  }[keyKind(algorithm)];
  try {
    return verify(DIGESTS[algorithm], bytes, { key, ...scheme }, signature);
  } catch {
    // OpenSSL throws for some signatures of a wrong length, where others are just wrong.
    return false;
  }
}
