import { createPublicKey, createSecretKey, type KeyObject, X509Certificate } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { CryptoKey, createLocalJWKSet, createRemoteJWKSet } from "jose";
import {
  fromCanonicalBase64url,
  isJsonObject,
  parseJson,
  type Refused,
  refused,
} from "../../domain/index.ts";
import { boundedFetch } from "../../http-client/index.ts";
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

/** The platform's keys cannot be had just now, so nothing can be said about a token. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
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
/** RFC 7518 §3.3 and §3.5. */
const MIN_RSA_BITS = 2_048;

/**
 * Public keys or certificates in PEM, one or several in a text, the current one first.
 * @throws Error when there is none, or one that cannot be used with this algorithm
 */
export function pemKeys(text: string, algorithm: JwtAlgorithm): KeyObject[] {
  if (PRIVATE.test(text)) throw new Error("holds a private key; expected the public one alone");
  const blocks = [...text.matchAll(BLOCK)];
  // A key that was cut off would be left out in silence, and what it signed be refused.
  if ((text.match(BOUNDARY)?.length ?? 0) !== 2 * blocks.length) {
    throw new Error("holds a PEM block that is not complete; expected BEGIN, base64 and END of one name");
  }
  if (blocks.length === 0) throw new Error("holds no PEM block; expected a public key or a certificate");
  return blocks.map(([block, label = ""], index) => {
    const key = read(block, label, index);
    const got = keyMismatch(key, algorithm);
    if (got === undefined) return key;
    throw new Error(
      `block ${index + 1}: got ${got}, expected ${expectedWith(algorithm)} for JWT_ALGORITHM=${algorithm}`,
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

function expectedWith(algorithm: JwtAlgorithm): string {
  if (algorithm === "ES256") return "an EC key on P-256";
  if (algorithm === "EdDSA") return "an Ed25519 key";
  return `an RSA key of at least ${MIN_RSA_BITS} bits`;
}

/** What a key is, where it is not one of the algorithm's. */
function keyMismatch(key: KeyObject, algorithm: JwtAlgorithm): string | undefined {
  const { asymmetricKeyType: type = "a secret", asymmetricKeyDetails = {} } = key;
  const { namedCurve, modulusLength } = asymmetricKeyDetails;
  // WebCrypto, which verifies, takes no key of the type rsa-pss.
  const isRsa = type === "rsa" && (modulusLength ?? 0) >= MIN_RSA_BITS;
  const fits = {
    HS256: false,
    RS256: isRsa,
    PS256: isRsa,
    ES256: type === "ec" && namedCurve === "prime256v1",
    EdDSA: type === "ed25519",
  }[algorithm];
  if (fits) return undefined;
  return [type, namedCurve, modulusLength === undefined ? undefined : `${modulusLength} bits`]
    .filter((part) => part !== undefined)
    .join(" ");
}

/** The shortest time between requests: forged tokens must not cause one each. */
const COOLDOWN_MS = 2_000;
/** How long a failure is remembered: an address in trouble is not asked for each callback. */
const FAILURE_MS = 5_000;
const FRESH_MS = 600_000;
/** Up to here the last keys serve at once while new ones are fetched; past it, a key that was withdrawn might. */
const AGEING_MS = 3_600_000;
/** How long they serve while the address does not answer. */
const STALE_MS = 86_400_000;
const TIMEOUT_MS = 3_000;
const MAX_CANDIDATES = 8;

type LocalSet = ReturnType<typeof createLocalJWKSet>;

/**
 * A JWK Set at an address (RFC 7517 §5), cached. It is fetched again for an unknown `kid` and for a signature
 * that no key made, since a platform may rotate without a new `kid`; a refusal would lose a callback for good.
 * @param now milliseconds of a clock that never goes back
 */
export function jwksKeys(url: string, now: () => number = () => performance.now()): JwtKeys {
  return new PublishedKeys(url, now);
}

class PublishedKeys implements JwtKeys {
  readonly #url: string;
  readonly #now: () => number;
  /** One set for each key, so that a key which cannot be used does not take others with it. */
  #keys: readonly LocalSet[] = [];
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #remote: ReturnType<typeof createRemoteJWKSet> | undefined;
  #failure: { readonly at: number; readonly cause: unknown } | undefined;
  #renewal: Promise<void> | undefined;

  constructor(url: string, now: () => number) {
    this.#url = url;
    this.#now = now;
  }

  async candidates(header: JwsHeader, body?: HeldBody): Promise<KeyCandidate[]> {
    await this.#refreshIfStale(body);
    return matchingKeys(this.#keys, header);
  }

  async refreshed(header: JwsHeader, body?: HeldBody): Promise<KeyCandidate[]> {
    const isKnown = (await matchingKeys(this.#keys, header)).length > 0;
    // Keys that were fetched just now are the platform's: a forged signature is no reason to wait.
    if (isKnown && this.#age() < COOLDOWN_MS) return [];
    assertMayWait(body);
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    await this.#renewal;
    return matchingKeys(this.#keys, header);
  }

  #age(): number {
    return this.#now() - this.#fetchedAt;
  }

  /** A key may have been published since the last look, however short ago that was. */
  async #renew(): Promise<void> {
    const early = COOLDOWN_MS - this.#age();
    if (early > 0) await sleep(early);
    await this.#reload();
  }

  /** Fetches what is too old. @throws KeysUnavailable when nothing that may still serve is at hand */
  async #refreshIfStale(body: HeldBody | undefined): Promise<void> {
    const old = this.#age();
    if (old < FRESH_MS) return;
    const isDown = this.#failure !== undefined && old < STALE_MS;
    const mustWait = !isDown && old >= AGEING_MS;
    if (mustWait) assertMayWait(body);
    const reloading = this.#reload().catch((error: unknown) => {
      // A failure is kept, and reported where a key is needed that only the address knows.
      if (old >= STALE_MS) throw error;
    });
    if (mustWait) await reloading;
  }

  /** Fetches, once for all who ask at the same time. @throws KeysUnavailable, at once where it just failed */
  async #reload(): Promise<void> {
    const now = this.#now();
    if (this.#failure !== undefined && now - this.#failure.at < FAILURE_MS)
      throw unavailable(this.#failure.cause);
    const jose = await import("jose");
    this.#remote ??= jose.createRemoteJWKSet(new URL(this.#url), {
      timeoutDuration: TIMEOUT_MS,
      [jose.customFetch]: boundedFetch,
    });
    try {
      await this.#remote.reload();
    } catch (cause) {
      this.#failure = { at: this.#now(), cause };
      throw unavailable(cause);
    }
    this.#failure = undefined;
    this.#fetchedAt = this.#now();
    this.#keys = (this.#remote.jwks()?.keys ?? []).map((jwk) => jose.createLocalJWKSet({ keys: [jwk] }));
  }
}

/** Forged tokens name unknown keys at will: their bodies must not take the room of those whose key is known. */
function assertMayWait(body: HeldBody | undefined): void {
  if (body?.mayWait() !== false) return;
  throw new KeysUnavailable(
    "JWT_JWKS_URL: the bodies that wait for its keys hold half of MAX_UNVERIFIED_BYTES already",
  );
}

function unavailable(cause: unknown): KeysUnavailable {
  return new KeysUnavailable(`JWT_JWKS_URL: the keys cannot be fetched: ${String(cause)}`, { cause });
}

/** Every key that fits: a token without `kid` may be of any of them while keys rotate. */
async function matchingKeys(keys: readonly LocalSet[], header: JwsHeader): Promise<KeyCandidate[]> {
  const found: KeyCandidate[] = [];
  const { errors } = await import("jose");
  for (const keyOf of keys) {
    try {
      found.push({ key: await keyOf({ ...header }), index: 0 });
    } catch (fault) {
      if (!(fault instanceof errors.JWKSNoMatchingKey)) found.push({ fault });
    }
    if (found.length === MAX_CANDIDATES) break;
  }
  return found;
}
