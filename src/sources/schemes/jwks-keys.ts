import { setTimeout as sleep } from "node:timers/promises";
import type { createLocalJWKSet, createRemoteJWKSet } from "jose";
import { boundedFetch } from "../../http-client/index.ts";
import type { JwsHeader } from "./jwt-keys.ts";
import { type JwtKeys, type KeyCandidate, KeysUnavailable } from "./jwt-keys.ts";

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

/**
 * A JWK Set at an address (RFC 7517 §5), cached. It is fetched again for an unknown `kid` and for a signature
 * that no key made, since a platform may rotate without a new `kid`; a refusal would lose a callback for good.
 * @param now milliseconds of a clock that never goes back
 */
export function jwksKeys(url: string, now: () => number = () => performance.now()): JwtKeys {
  const set = publishedSet(url, now);
  let renewal: Promise<void> | undefined;
  return {
    async candidates(header) {
      await set.refreshIfStale();
      return matchingKeys(set.keys(), header);
    },
    async refreshed(header) {
      const isKnown = (await matchingKeys(set.keys(), header)).length > 0;
      // Keys that were fetched just now are the platform's: a forged signature is no reason to wait.
      if (isKnown && set.age() < COOLDOWN_MS) return [];
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      await renewal;
      return matchingKeys(set.keys(), header);
    },
  };

  /** A key may have been published since the last look, however short ago that was. */
  async function renew(): Promise<void> {
    const early = COOLDOWN_MS - set.age();
    if (early > 0) await sleep(early);
    await set.reload();
  }
}

type LocalSet = ReturnType<typeof createLocalJWKSet>;

interface PublishedSet {
  /** One set for each key, so that a key which cannot be used does not take others with it. */
  keys(): readonly LocalSet[];
  age(): number;
  /** Fetches what is too old. @throws KeysUnavailable when nothing that may still serve is at hand */
  refreshIfStale(): Promise<void>;
  /** Fetches, once for all who ask at the same time. @throws KeysUnavailable, at once where it just failed */
  reload(): Promise<void>;
}

function publishedSet(url: string, now: () => number): PublishedSet {
  let remote: ReturnType<typeof createRemoteJWKSet> | undefined;
  let keys: readonly LocalSet[] = [];
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failure: { readonly at: number; readonly cause: unknown } | undefined;
  const age = () => now() - fetchedAt;
  return { keys: () => keys, age, refreshIfStale: refreshIfStale, reload };

  async function reload(): Promise<void> {
    if (failure !== undefined && now() - failure.at < FAILURE_MS) throw unavailable(failure.cause);
    const jose = await import("jose");
    remote ??= jose.createRemoteJWKSet(new URL(url), {
      timeoutDuration: TIMEOUT_MS,
      [jose.customFetch]: boundedFetch,
    });
    try {
      await remote.reload();
    } catch (cause) {
      failure = { at: now(), cause };
      throw unavailable(cause);
    }
    failure = undefined;
    fetchedAt = now();
    keys = (remote.jwks()?.keys ?? []).map((jwk) => jose.createLocalJWKSet({ keys: [jwk] }));
  }

  async function refreshIfStale(): Promise<void> {
    const old = age();
    if (old < FRESH_MS) return;
    const isDown = failure !== undefined && old < STALE_MS;
    if (isDown || old < AGEING_MS) {
      // A failure is kept, and reported where a key is needed that only the address knows.
      reload().catch(() => undefined);
      return;
    }
    await reload().catch((error: unknown) => {
      if (old >= STALE_MS) throw error;
    });
  }
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
