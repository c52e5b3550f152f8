import { setTimeout as sleep } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import type { Clock, Log } from "../domain/index.ts";
import {
  type AccessToken,
  sealedTokensContext,
  sealTokens,
  type TokenAnswer,
  UserTokensMissing,
} from "../handlers/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { StoredUserTokens, UserTokenStore } from "../store/index.ts";
import type { Platform } from "./platform.ts";
import { asking, isFinal } from "./platform-error.ts";
import { standardAnswer } from "./standard-answer.ts";

export interface UserTokensDeps {
  readonly store: UserTokenStore;
  readonly platform: () => Platform;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
}

const TIME_LIMIT_MS = 10_000;
const STORING_MS = 15_000;
const POLL_MS = 50;
const AGAIN_MS = 60_000;
/** A lease outlives asking and storing. */
export const REFRESH_LEASE_MS = 60_000;

/** @throws SealBroken when they were encrypted with a key that is not configured */
export function openTokens({ userId, sealed }: StoredUserTokens, { sealer }: UserTokensDeps): TokenAnswer {
  return JSON.parse(Buffer.from(sealer.open(sealed, sealedTokensContext(userId))).toString("utf8"));
}

/** What a handler is given. */
export function handed(tokens: TokenAnswer, expiresAt: string | Date | null): AccessToken {
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
  deps: UserTokensDeps,
): Promise<AccessToken | undefined> {
  const { store, platform, sealer, clock, log } = deps;
  const { userId } = stored;
  let tokens: TokenAnswer;
  let answer: TokenAnswer;
  try {
    tokens = openTokens(stored, deps);
    const { refresh_token: refreshToken } = tokens;
    if (typeof refreshToken !== "string") {
      await store.release(userId, owner, { refreshAt: null, error: "the platform gave no refresh token" });
      return undefined;
    }
    answer = await ask(platform(), refreshToken);
  } catch (error) {
    const isOver = isFinal(error);
    const again = isOver ? null : new Date(clock.now().getTime() + AGAIN_MS);
    const why = isOver ? "the platform refuses the refresh token" : null;
    await store.release(userId, owner, { refreshAt: again, error: why });
    throw isOver
      ? new UserTokensMissing(`user "${userId}" must authorize us again`, { cause: error })
      : error;
  }
  const now = clock.now();
  const fresh = { ...tokens, ...answer };
  const kept = sealTokens(fresh, userId, sealer, now);
  if (!(await untilStored(() => store.save(userId, owner, kept, now)))) {
    log.warn(
      { user_id: userId },
      "refreshed tokens were not stored: the user has authorized us anew meanwhile",
    );
  }
  return handed(fresh, kept.expiresAt);
}

/** The old refresh token may work no more, so the new one is stored again and again while the lease lasts. */
async function untilStored(save: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + STORING_MS;
  for (;;) {
    try {
      return await save();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(POLL_MS);
    }
  }
}

async function ask(platform: Platform, refreshToken: string): Promise<TokenAnswer> {
  const { client, clientAuth, options, server } = platform;
  const authorizationServer = await server();
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  return asking(async () => {
    const response = await oauth.refreshTokenGrantRequest(
      authorizationServer,
      client,
      clientAuth,
      refreshToken,
      options(signal),
    );
    // The user is known already, and a fault of an ID token must not lose a refresh token that was rotated.
    const answer = await standardAnswer(response, false);
    return (await oauth.processRefreshTokenResponse(
      authorizationServer,
      client,
      answer,
    )) as unknown as TokenAnswer;
  });
}
