import { createSecretKey, type KeyObject, X509Certificate } from "node:crypto";
import type { CryptoKey } from "jose";
import {
  type Clock,
  fromCanonicalBase64url,
  isJsonObject,
  parseJson,
  type Refused,
  refused,
} from "../../domain/index.ts";
import { decodeExactly } from "../formats/encoding.ts";
import type { HeldBody } from "../request.ts";
import { expectedKey, type KeyKind, keyMismatch, PRIVATE_PEM, readPem } from "./public-keys.ts";
import { type ChainTrust, verifyChain } from "./x5c-chain.ts";

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
   * Those that fit a token's header; the current one first. A header chooses among configured keys only, or brings a
   * chain of certificates to a configured root.
   * @param body asked before it is held for a fetch
   * @throws KeysUnavailable when they cannot be fetched, or the body may not wait for that
   */
  candidates(header: JwsHeader, body?: HeldBody): Promise<readonly KeyCandidate[] | Refused>;
  /**
   * Asked when none of them made the signature: those that fit after another look. None where a look is not due.
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
  /** As it was sent; read where a root is configured, and nowhere else. */
  readonly x5c?: unknown;
}

const MAX_TOKEN_LENGTH = 8_192;
const MAX_KID_LENGTH = 256;
const MAX_X5C = 4;

/**
 * The header of a compact JWS (RFC 7515 §7.1). Stricter than base64url decoders are: three parts of the alphabet only,
 * each the one encoding of its bytes. `crit` is refused whatever it lists, since no extension is understood (§4.1.11);
 * `jku`, `x5u` and `jwk` are never looked at.
 */
export function parseJwsHeader(token: string, maxLength = MAX_TOKEN_LENGTH): JwsHeader | Refused {
  if (token.length > maxLength) return malformed(`longer than ${maxLength} characters`);
  const parts = token.split(".", 4);
  const [first, ...rest] = parts.length === 3 ? parts.map(fromCanonicalBase64url) : [];
  if (first === undefined || rest.includes(undefined)) return malformed("not three parts of base64url");
  const header = parseJson(first.toString("utf8"));
  if (!isJsonObject(header)) return malformed("the header is not a JSON object");
  const { alg, kid, x5c } = header;
  if ("crit" in header) return malformed("crit: no extension is understood");
  if (typeof alg !== "string") return malformed("alg: missing");
  if (kid === undefined) return { alg, x5c };
  if (typeof kid !== "string" || kid.length > MAX_KID_LENGTH) return malformed("`kid`: expected a string");
  return { alg, kid, x5c };
}

function malformed(detail: string): Refused {
  return refused("jwt_malformed", { detail });
}

/**
 * The key of the certificate in a token's header, where its chain leads to a configured root (RFC 7515 §4.1.6; Apple).
 * The index is the root's.
 */
export function x5cKeys(trust: ChainTrust, clock: Clock): JwtKeys {
  return {
    async candidates({ x5c }) {
      const chain = Array.isArray(x5c) ? x5c.slice(0, MAX_X5C + 1).map(readX5c) : [];
      const certificates = chain.filter((one) => one !== undefined);
      if (chain.length === 0 || chain.length > MAX_X5C || certificates.length < chain.length)
        return malformed(`x5c: expected 1 to ${MAX_X5C} certificates in base64`);
      const result = verifyChain(certificates, trust, clock.now());
      if (typeof result === "string") return refused("jwt_signature", { detail: `x5c: ${result}` });
      return [{ key: result.key, index: result.root }];
    },
    refreshed: async () => [],
  };
}

function readX5c(text: unknown): X509Certificate | undefined {
  const der = typeof text === "string" ? decodeExactly(text, "base64") : undefined;
  try {
    return der && new X509Certificate(der);
  } catch {
    return undefined;
  }
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;
const BOUNDARY = /-----(BEGIN|END)/g;

/**
 * Public keys or certificates in PEM, one or several in a text, the current one first.
 * @param setting the option of the algorithm, as the user wrote it. The message for a key of another kind names it
 * @throws Error when there is none, or one that cannot be used with this algorithm
 */
export function pemKeys(text: string, algorithm: JwtAlgorithm, setting: string = algorithm): KeyObject[] {
  const kind = KINDS[algorithm];
  if (kind === undefined) throw new TypeError(`${algorithm} has no public keys`);
  if (PRIVATE_PEM.test(text)) throw new Error("holds a private key; expected the public one alone");
  const blocks = [...text.matchAll(BLOCK)];
  // A key that was cut off would be left out in silence, and what it signed be refused.
  if ((text.match(BOUNDARY)?.length ?? 0) !== 2 * blocks.length)
    throw new Error("holds a PEM block that is not complete; expected BEGIN, base64 and END of one name");
  if (blocks.length === 0) throw new Error("holds no PEM block; expected a public key or a certificate");
  return blocks.map(([block, label = ""], index) => {
    const key = readPem(block, `block ${index + 1} (${label})`);
    const got = keyMismatch(key, kind);
    if (got === undefined) return key;
    throw new Error(`block ${index + 1}: got ${got}, expected ${expectedKey(kind)} for ${setting}`);
  });
}

const KINDS: Readonly<Record<JwtAlgorithm, KeyKind | undefined>> = {
  HS256: undefined,
  RS256: "rsa",
  PS256: "rsa",
  ES256: "p256",
  EdDSA: "ed25519",
};
