import type { JsonObject } from "../../domain/index.ts";
import type { Sealer } from "../../seal/index.ts";

/** The answer of a token endpoint (RFC 6749 §5.1), as JSON. */
export type TokenAnswer = JsonObject & { access_token: string };

/** Refreshed this long before they expire, or at half of their life where that is short. */
const REFRESH_AHEAD_MS = 300_000;
/** However short their life is, nobody refreshes them in a circle; who asks for them in between gets new ones. */
const LEAST_LIFE_MS = 10_000;
const LONGEST_SECONDS = 3_155_760_000;

export interface SealedTokens {
  readonly sealed: Uint8Array;
  readonly expiresAt: Date | null;
  /** Null where they cannot be refreshed, or need not be. */
  readonly refreshAt: Date | null;
}

/** The answer of a token endpoint as it is kept: encrypted, with the times that tell what to do with it. */
export function sealTokens(tokens: TokenAnswer, userId: string, sealer: Sealer, now: Date): SealedTokens {
  const sealed = sealer.seal(Buffer.from(JSON.stringify(tokens)), sealedTokensContext(userId));
  const seconds = tokens.expires_in;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds < LONGEST_SECONDS)) {
    return { sealed, expiresAt: null, refreshAt: null };
  }
  const lifeMs = seconds * 1000;
  const expiresAt = new Date(now.getTime() + lifeMs);
  const beforeEnd = expiresAt.getTime() - Math.min(REFRESH_AHEAD_MS, lifeMs / 2);
  const refreshAt = new Date(Math.max(beforeEnd, now.getTime() + LEAST_LIFE_MS));
  return { sealed, expiresAt, refreshAt: typeof tokens.refresh_token === "string" ? refreshAt : null };
}

export function sealedTokensContext(userId: string): string {
  return `users ${userId}`;
}
