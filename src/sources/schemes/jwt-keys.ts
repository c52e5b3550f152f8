import { createPublicKey, createSecretKey, type KeyObject, X509Certificate } from "node:crypto";
import type { CryptoKey } from "jose";
import {
  fromCanonicalBase64url,
  isJsonObject,
  parseJson,
  type Refused,
  refused,
} from "../../domain/index.ts";
import { expectedKey, type KeyKind, keyMismatch } from "./public-keys.ts";
import type { HeldBody } from "./scheme.ts";

export type JwtAlgorithm = "HS256" | "RS256" | "PS256" | "ES256" | "EdDSA";

/** A key that may have made a signature, or the fault of one that would fit and cannot be used. */
export type KeyCandidate =
  | {
      readonly key: KeyObject | CryptoKey;
      /** Its place among those that are configured. The platform's own set has no order: all of it is current. */
      readonly index: number;
    }
  | { readonly fault: unknown };

export interface JwtKeys {
  /**
   * Those that fit a token's header; the current one first. A header chooses among configured keys only.
   * @param body asked before it is held for a fetch
   * @throws KeysUnavailable when they cannot be fetched, or the body may not wait for that
   */
  candidates(header: JwsHeader, body?: HeldBody): Promise<readonly KeyCandidate[]>;
  /**
   * Asked when none of them made the signature: those that fit after another look, none where a look is not due.
   * @param body asked before it is held for a fetch
   * @throws KeysUnavailable when they cannot be fetched, or the body may not wait for that
   */
  refreshed(header: JwsHeader, body?: HeldBody): Promise<readonly KeyCandidate[]>;
}

/** HS256: the current secret first. */
export function secretKeys(secrets: readonly (string | Uint8Array)[]): JwtKeys {
  return fixedKeys(secrets.map((secret) => createSecretKey(Buffer.from(secret))));
}

export function fixedKeys(keys: readonly KeyObject[]): JwtKeys {
  const candidates = keys.map((key, index) => ({ key, index }));
  return { candidates: async () => candidates, refreshed: async () => [] };
}

/** The part of a JOSE header that is looked at before the signature: never to choose an algorithm. */
export interface JwsHeader {
  readonly alg: string;
  readonly kid?: string;
}

const MAX_TOKEN_LENGTH = 8_192;
const MAX_KID_LENGTH = 256;

/**
 * The header of a compact JWS (RFC 7515 §7.1). Stricter than base64url decoders are: three parts of the alphabet
 * alone, each the one encoding of its bytes. `crit` is refused whatever it lists, since no extension is understood
 * (§4.1.11); `jku`, `x5u` and `jwk` are never looked at.
 */
export function parseJwsHeader(token: string): JwsHeader | Refused {
  const parts = token.split(".");
  if (token.length > MAX_TOKEN_LENGTH) return malformed("longer than 8192 characters");
  const [first, ...rest] = parts.length === 3 ? parts.map(fromCanonicalBase64url) : [];
  if (first === undefined || rest.includes(undefined)) return malformed("not three parts of base64url");
  const header = parseJson(first.toString("utf8"));
  if (!isJsonObject(header)) return malformed("the header is not a JSON object");
  const { alg, kid } = header;
  if ("crit" in header) return malformed("crit: no extension is understood");
  if (typeof alg !== "string") return malformed("alg: missing");
  if (kid === undefined) return { alg };
  if (typeof kid !== "string" || kid.length > MAX_KID_LENGTH) return malformed("kid: expected a string");
  return { alg, kid };
}

function malformed(detail: string): Refused {
  return refused("jwt_malformed", { detail });
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;
const BOUNDARY = /-----(BEGIN|END)/g;
const PRIVATE = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;

/**
 * Public keys or certificates in PEM, one or several in a text, the current one first.
 * @throws Error when there is none, or one that cannot be used with this algorithm
 */
export function pemKeys(text: string, algorithm: JwtAlgorithm): KeyObject[] {
  const kind = KINDS[algorithm];
  if (kind === undefined) throw new TypeError(`${algorithm} has no public keys`);
  if (PRIVATE.test(text)) throw new Error("holds a private key; expected the public one alone");
  const blocks = [...text.matchAll(BLOCK)];
  // A key that was cut off would be left out in silence, and what it signed be refused.
  if ((text.match(BOUNDARY)?.length ?? 0) !== 2 * blocks.length) {
    throw new Error("holds a PEM block that is not complete; expected BEGIN, base64 and END of one name");
  }
  if (blocks.length === 0) throw new Error("holds no PEM block; expected a public key or a certificate");
  return blocks.map(([block, label = ""], index) => {
    const key = read(block, label, index);
    const got = keyMismatch(key, kind);
    if (got === undefined) return key;
    throw new Error(
      `block ${index + 1}: got ${got}, expected ${expectedKey(kind)} for JWT_ALGORITHM=${algorithm}`,
    );
  });
}

function read(block: string, label: string, index: number): KeyObject {
  try {
    return label === "CERTIFICATE" ? new X509Certificate(block).publicKey : createPublicKey(block);
  } catch (cause) {
    const message = `block ${index + 1} (${label}) cannot be read as a public key or a certificate`;
    throw new Error(message, { cause });
  }
}

const KINDS: Readonly<Record<JwtAlgorithm, KeyKind | undefined>> = {
  HS256: undefined,
  RS256: "rsa",
  PS256: "rsa",
  ES256: "p256",
  EdDSA: "ed25519",
};
