import type { createLocalJWKSet, JWK } from "jose";
import { isJsonObject, parseJson } from "../../domain/index.ts";
import { COOLDOWN_MS, FetchedKeys, type FetchedOptions, FetchedValue } from "./fetched-keys.ts";
import type { JwsHeader, JwtKeys, KeyCandidate } from "./jwt-keys.ts";
import { requestKeys } from "./key-request.ts";

const MAX_CANDIDATES = 8;

type LocalSet = ReturnType<typeof createLocalJWKSet>;

/**
 * A JWK Set at an address (RFC 7517 §5), cached. It is fetched again for an unknown `kid` and for a signature that no
 * key made. A platform may rotate without a new `kid`, and a refusal would lose a callback for good.
 * @param now milliseconds of a clock that never goes back
 */
export function jwksKeys(url: string, now?: () => number, name = "JWT_JWKS_URL"): JwtKeys {
  // One set for each key, so that a key which cannot be used does not take others with it.
  const sets = new FetchedValue(() => fetchSets(url), now === undefined ? { name } : { name, now });
  return {
    candidates: async (header, body) => matchingKeys(await sets.current(body), header),
    async refreshed(header, body) {
      const isKnown = (await matchingKeys(sets.latest ?? [], header)).length > 0;
      // Keys that were fetched just now are the platform's: a forged signature is no reason to wait.
      if (isKnown && sets.age() < COOLDOWN_MS) return [];
      return matchingKeys(await sets.renewed(body), header);
    },
  };
}

async function fetchSets(url: string): Promise<LocalSet[]> {
  const { createLocalJWKSet } = await import("jose");
  const text = await requestKeys(url, { headers: { accept: "application/jwk-set+json, application/json" } });
  const set = parseJson(text ?? "");
  const keys = isJsonObject(set) ? set.keys : undefined;
  if (!Array.isArray(keys) || !keys.every(isJsonObject)) throw new Error(`${new URL(url).origin}: no JWK Set`);
  return keys.map((jwk) => createLocalJWKSet({ keys: [jwk as unknown as JWK] }));
}

/** Every key that fits: a token without `kid` may be of any of them while keys rotate. */
async function matchingKeys(keys: readonly LocalSet[], header: JwsHeader): Promise<KeyCandidate[]> {
  const candidates: KeyCandidate[] = [];
  const { errors } = await import("jose");
  const { alg, kid } = header;
  for (const keyOf of keys) {
    try {
      candidates.push({ key: await keyOf(kid === undefined ? { alg } : { alg, kid }), index: 0 });
    } catch (fault) {
      if (!(fault instanceof errors.JWKSNoMatchingKey)) candidates.push({ fault });
    }
    if (candidates.length === MAX_CANDIDATES) break;
  }
  return candidates;
}

/**
 * Keys that a platform hands out one by one, by their `kid`, through an API of its own (Plaid). A key never changes
 * under its `kid`, so another look cannot help a signature that it did not make.
 * @param fetch the JWK of a `kid`; undefined where the platform says that there is none
 */
export function keysById(fetch: (kid: string) => Promise<object | undefined>, options: FetchedOptions): JwtKeys {
  const sets = new FetchedKeys<LocalSet>(async (kid) => {
    const jwk = await fetch(kid);
    const { createLocalJWKSet } = await import("jose");
    return jwk && createLocalJWKSet({ keys: [jwk as JWK] });
  }, options);
  return {
    async candidates(header, body) {
      if (header.kid === undefined) return [];
      const set = await sets.get(header.kid, body);
      return set === undefined ? [] : matchingKeys([set], header);
    },
    refreshed: async () => [],
  };
}
