import { setTimeout as sleep } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import type { Clock, Log } from "../domain/index.ts";
import type { Encryptor } from "../encryption/index.ts";
import {
  type AccessToken,
  encryptTokens,
  type TokenResponse,
  UserTokensMissing,
  userTokensContext,
} from "../handlers/index.ts";
import type { StoredUserTokens, UserTokens } from "../store/index.ts";
import { normalizedTokenResponse } from "./normalized-token-response.ts";
import type { Platform } from "./platform.ts";
import { isInvalidGrant, withLoggableErrors } from "./platform.ts";

export interface UserTokensDependencies {
  readonly store: UserTokens;
  readonly platform: () => Platform;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
}

const TIME_LIMIT_MS = 10_000;
const STORE_TIMEOUT_MS = 15_000;
const POLL_INTERVAL_MS = 50;
const RETRY_AFTER_MS = 60_000;
/** A lease outlives asking and storing. */
export const REFRESH_LEASE_MS = 60_000;

/** @throws DecryptionError when they were encrypted with a key that is not configured */
export function decryptTokens(
  { userId, encrypted }: StoredUserTokens,
  { encryptor }: UserTokensDependencies,
): TokenResponse {
  return JSON.parse(Buffer.from(encryptor.decrypt(encrypted, userTokensContext(userId))).toString("utf8"));
}

/** What a handler is given. */
export function toAccessToken(tokens: TokenResponse, expiresAt: string | Date | null): AccessToken {
  const type = typeof tokens.token_type === "string" ? tokens.token_type : "Bearer";
  return {
    accessToken: tokens.access_token,
    // The name is of any case (RFC 6749 §5.1), but not every API takes it so.
    tokenType: /^bearer$/i.test(type) ? "Bearer" : type,
    scope: typeof tokens.scope === "string" ? tokens.scope : null,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}

/**
 * RFC 6749 §6. The platform may give a new refresh token, and the old one then works no more (RFC 9700 §4.14.2).
 * @returns the new tokens, however short their life is; undefined where there is nothing to refresh them with
 * @throws UserTokensMissing when the platform refuses it for good; another error when it could not be asked
 */
export async function refresh(
  stored: StoredUserTokens,
  owner: string,
  deps: UserTokensDependencies,
): Promise<AccessToken | undefined> {
  const { store, platform, encryptor, clock, log } = deps;
  const { userId } = stored;
  let tokens: TokenResponse;
  let answer: TokenResponse;
  try {
    tokens = decryptTokens(stored, deps);
    const { refresh_token: refreshToken } = tokens;
    if (typeof refreshToken !== "string") {
      await store.release(userId, owner, { refreshAt: null, error: "the platform gave no refresh token" });
      return undefined;
    }
    answer = await ask(platform(), refreshToken);
  } catch (error) {
    const isOver = isInvalidGrant(error);
    const again = isOver ? null : new Date(clock.now().getTime() + RETRY_AFTER_MS);
    const why = isOver ? "the platform refuses the refresh token" : null;
    await store.release(userId, owner, { refreshAt: again, error: why });
    throw isOver
      ? new UserTokensMissing(`user "${userId}" must authorize us again`, { cause: error })
      : error;
  }
  const now = clock.now();
  const fresh = { ...tokens, ...answer };
  const kept = encryptTokens(fresh, userId, encryptor, now);
  if (!(await storeWithRetries(() => store.save(userId, owner, kept, now)))) {
    log.warn(
      { user_id: userId },
      "refreshed tokens were not stored: the user has authorized us again meanwhile",
    );
  }
  return toAccessToken(fresh, kept.expiresAt);
}

/** The old refresh token may work no more, so the new one is stored again and again while the lease lasts. */
async function storeWithRetries(save: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + STORE_TIMEOUT_MS;
  for (;;) {
    try {
      return await save();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

async function ask(platform: Platform, refreshToken: string): Promise<TokenResponse> {
  const { client, clientAuth, options, server } = platform;
  const authorizationServer = await server();
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  return withLoggableErrors(async () => {
    const response = await oauth.refreshTokenGrantRequest(
      authorizationServer,
      client,
      clientAuth,
      refreshToken,
      options(signal),
    );
    // The user is known already, and a fault of an ID token must not lose a refresh token that was rotated.
    const answer = await normalizedTokenResponse(response, false);
    return (await oauth.processRefreshTokenResponse(
      authorizationServer,
      client,
      answer,
    )) as unknown as TokenResponse;
  });
}
