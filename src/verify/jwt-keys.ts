import { createSecretKey, type KeyObject } from "node:crypto";
import type { CryptoKey } from "jose";
import type { JwsHeader } from "./jws-header.ts";

export type JwtAlgorithm = "HS256" | "RS256" | "PS256" | "ES256" | "EdDSA";

/** A key that may have made a signature, or the fault of one that would fit and cannot be used. */
export type Candidate =
  | {
      readonly key: KeyObject | CryptoKey;
      /** Its place among those that are configured. The platform's own set has no order: all of it is current. */
      readonly index: number;
    }
  | { readonly fault: unknown };

/** The keys that tokens may be signed with. */
export interface JwtKeys {
  /**
   * Those that fit a token's header; the current one first. A header chooses among configured keys only.
   * @throws KeysUnavailable when they cannot be fetched
   */
  candidates(header: JwsHeader): Promise<readonly Candidate[]>;
  /**
   * Asked when none of them made the signature: those that fit after another look, none where a look is not due.
   * @throws KeysUnavailable when they cannot be fetched
   */
  renewed(header: JwsHeader): Promise<readonly Candidate[]>;
}

/** The platform's keys cannot be had just now, so nothing can be said about a token. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** HS256: the current secret first. */
export function secretKeys(secrets: readonly (string | Uint8Array)[]): JwtKeys {
  return fixedKeys(secrets.map((secret) => createSecretKey(Buffer.from(secret))));
}

/** Keys that are known since the start. */
export function fixedKeys(keys: readonly KeyObject[]): JwtKeys {
  const candidates = keys.map((key, index) => ({ key, index }));
  return { candidates: async () => candidates, renewed: async () => [] };
}
