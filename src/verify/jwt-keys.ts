import { createPublicKey, createSecretKey, type KeyObject, X509Certificate } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from "jose";
import type { JwsHeader } from "./jws-header.ts";

type Key = KeyObject | CryptoKey;

/** The keys that tokens may be signed with. */
export interface JwtKeys {
  /**
   * Those that fit a token's header; the current one first. A header chooses among configured keys only.
   * @throws KeysUnavailable when they cannot be fetched
   */
  candidates(header: JwsHeader): Promise<readonly Key[]>;
}

/** The platform's keys cannot be fetched just now, so nothing can be said about a token. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** HS256: the current secret first. */
export function secretKeys(secrets: readonly (string | Uint8Array)[]): JwtKeys {
  return fixed(secrets.map((secret) => createSecretKey(Buffer.from(secret))));
}

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/**
 * Public keys or certificates in PEM, one or several in a text, the current one first.
 * @throws Error when there is none, or a private key among them
 */
export function pemKeys(text: string): JwtKeys {
  const blocks = [...text.matchAll(PEM_BLOCK)];
  if (blocks.length === 0) throw new Error("holds no PEM block; expected a public key or a certificate");
  return fixed(
    blocks.map(([block, label = ""]) => {
      if (label.includes("PRIVATE")) throw new Error("holds a private key; expected the public one alone");
      return label === "CERTIFICATE" ? new X509Certificate(block).publicKey : createPublicKey(block);
    }),
  );
}

function fixed(keys: readonly Key[]): JwtKeys {
  return { candidates: async () => keys };
}

/** No sooner again than this for a `kid` that is not known: whoever makes them up must not make us ask each time. */
const COOLDOWN_MS = 2_000;
const FRESH_MS = 600_000;
/** How long the last keys serve while the address does not answer. */
const STALE_MS = 86_400_000;
const TIMEOUT_MS = 3_000;
const MOST_CANDIDATES = 8;

/** A JWK Set at an address (RFC 7517 §5), cached; an unknown `kid` is looked up anew, so that keys can rotate. */
export function jwksKeys(url: string): JwtKeys {
  const remote = createRemoteJWKSet(new URL(url), {
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: FRESH_MS,
    timeoutDuration: TIMEOUT_MS,
  });
  let fetched = Number.NEGATIVE_INFINITY;
  return {
    async candidates(header) {
      try {
        const keys = await look(header);
        if (remote.fresh) fetched = performance.now();
        return keys;
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) return [];
        return fallback(remote.jwks(), header, error);
      }
    },
  };

  /** A key may have been published since the last look; a refusal now would lose a callback for good. */
  async function look(header: JwsHeader): Promise<readonly Key[]> {
    const tooSoon = remote.coolingDown;
    try {
      return await matching(remote, header);
    } catch (error) {
      if (!tooSoon || !(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await sleep(COOLDOWN_MS);
      return matching(remote, header);
    }
  }

  async function fallback(
    last: JSONWebKeySet | undefined,
    header: JwsHeader,
    error: unknown,
  ): Promise<readonly Key[]> {
    if (last === undefined || performance.now() - fetched > STALE_MS) {
      throw new KeysUnavailable(`JWT_JWKS_URL: the keys cannot be fetched: ${String(error)}`, {
        cause: error,
      });
    }
    const keys = await matching(createLocalJWKSet(last), header).catch(() => []);
    // The key may be one that only the address that does not answer knows.
    if (keys.length === 0)
      throw new KeysUnavailable(`JWT_JWKS_URL: does not answer: ${String(error)}`, { cause: error });
    return keys;
  }
}

type Resolver = (header: JWSHeaderParameters) => Promise<CryptoKey>;

/** Every key that fits: a token without `kid` may be of any of them while keys rotate. */
async function matching(resolve: Resolver, header: JwsHeader): Promise<CryptoKey[]> {
  try {
    return [await resolve({ ...header })];
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    const keys: CryptoKey[] = [];
    for await (const key of error) {
      keys.push(key);
      if (keys.length === MOST_CANDIDATES) break;
    }
    return keys;
  }
}
