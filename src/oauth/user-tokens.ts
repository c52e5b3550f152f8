import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import type { Clock, Log } from "../domain/index.ts";
import {
  type AccessToken,
  sealedTokensContext,
  sealTokens,
  type TokenAnswer,
  type UserTokens,
  UserTokensMissing,
} from "../handlers/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { StoredUserTokens, UserTokenStore } from "../store/index.ts";
import type { Platform } from "./platform.ts";

export interface UserTokensDeps {
  readonly store: UserTokenStore;
  readonly platform: () => Platform;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly log: Log;
}

/** The tokens of users, kept valid. */
export interface KeptTokens extends UserTokens {
  /** Refreshes all that expire soon, until it is told to stop; resolves with how many it tried. */
  refreshDue(isStopping?: () => boolean): Promise<number>;
  /** Ends the authorization, at the platform where it can be, and deletes the tokens; false when there are none. */
  revoke(userId: string): Promise<boolean>;
}

const VALID_FOR_MS = 60_000;
const TIME_LIMIT_MS = 10_000;
const STORING_MS = 15_000;
/** A lease outlives asking and storing. */
const LEASE_MS = 30_000;
const POLL_MS = 50;
const AGAIN_MS = 60_000;
const AT_ONCE = 8;

export function createUserTokens(deps: UserTokensDeps): KeptTokens {
  const { store, clock, log } = deps;

  function isValid({ expiresAt }: StoredUserTokens): boolean {
    return expiresAt === null || Date.parse(expiresAt) > clock.now().getTime() + VALID_FOR_MS;
  }

  const newLease = () => {
    const now = clock.now();
    return { owner: randomUUID(), now, until: new Date(now.getTime() + LEASE_MS) };
  };

  return {
    async for(userId) {
      const deadline = performance.now() + TIME_LIMIT_MS;
      for (;;) {
        const stored = await store.get(userId);
        if (stored === undefined) throw new UserTokensMissing(`user "${userId}" has not authorized us`);
        if (isValid(stored)) return handed(open(stored, deps), stored.expiresAt);
        if (stored.error !== null)
          throw new UserTokensMissing(`user "${userId}" must authorize us again: ${stored.error}`);
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        // Another process is refreshing them: what it gets is what we need.
        if (leased === "leased") {
          if (performance.now() > deadline)
            throw new Error(`the tokens of user "${userId}" are being refreshed`);
          await sleep(POLL_MS);
        } else if (typeof leased !== "string") {
          // Somebody may have refreshed them between the look and the lease: their refresh token is a new one.
          await (isValid(leased) ? store.release(userId, lease.owner) : refresh(leased, lease.owner, deps));
        }
      }
    },
    async refreshDue(isStopping = () => false) {
      let tried = 0;
      for (;;) {
        const lease = newLease();
        const due = await store.leaseDue(lease, AT_ONCE);
        await Promise.all(
          due.map((stored) =>
            refresh(stored, lease.owner, deps).catch((error: unknown) =>
              log.warn({ err: error, user_id: stored.userId }, "a user's tokens could not be refreshed"),
            ),
          ),
        );
        tried += due.length;
        // A full load is followed by the next one at once.
        if (due.length < AT_ONCE || isStopping()) return tried;
      }
    },
    async revoke(userId) {
      const deadline = performance.now() + TIME_LIMIT_MS;
      for (;;) {
        // A refresh under way would bring tokens that nobody has revoked.
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        if (leased === "absent") return false;
        if (leased !== "leased") return endLeased(leased, lease.owner, deps);
        if (performance.now() > deadline)
          throw new Error(`the tokens of user "${userId}" are being refreshed`);
        await sleep(POLL_MS);
      }
    },
  };
}

/** Revokes at the platform first: what is deleted here could not be revoked there any more. */
async function endLeased(stored: StoredUserTokens, owner: string, deps: UserTokensDeps): Promise<boolean> {
  const { store, platform } = deps;
  try {
    await revokeAt(platform(), open(stored, deps));
  } catch (error) {
    await store.release(stored.userId, owner);
    throw error;
  }
  // Unless the user has authorized us again meanwhile.
  await store.remove(stored.userId, owner);
  return true;
}

/** @throws SealBroken when they were encrypted with a key that is not configured */
function open({ userId, sealed }: StoredUserTokens, { sealer }: UserTokensDeps): TokenAnswer {
  return JSON.parse(Buffer.from(sealer.open(sealed, sealedTokensContext(userId))).toString("utf8"));
}

function handed(tokens: TokenAnswer, expiresAt: string | null): AccessToken {
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
 * @throws UserTokensMissing when the platform refuses it for good; another error when it could not be asked
 */
async function refresh(stored: StoredUserTokens, owner: string, deps: UserTokensDeps): Promise<void> {
  const { store, platform, sealer, clock } = deps;
  const { userId } = stored;
  let tokens: TokenAnswer;
  let answer: TokenAnswer;
  try {
    tokens = open(stored, deps);
    const { refresh_token: refreshToken } = tokens;
    if (typeof refreshToken !== "string") {
      await store.release(userId, owner, { refreshAt: null, error: "the platform gave no refresh token" });
      return;
    }
    answer = await ask(platform(), refreshToken);
  } catch (error) {
    const isFinal = error instanceof oauth.ResponseBodyError && error.error === "invalid_grant";
    const again = isFinal ? null : new Date(clock.now().getTime() + AGAIN_MS);
    const why = isFinal ? "the platform refuses the refresh token" : null;
    await store.release(userId, owner, { refreshAt: again, error: why });
    throw isFinal
      ? new UserTokensMissing(`user "${userId}" must authorize us again`, { cause: error })
      : error;
  }
  const now = clock.now();
  const kept = sealTokens({ ...tokens, ...answer }, userId, sealer, now);
  await untilStored(() => store.save(userId, owner, kept, now));
}

/** The old refresh token may work no more, so the new one is stored again and again while the lease lasts. */
async function untilStored(save: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + STORING_MS;
  for (;;) {
    try {
      await save();
      return;
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
  const response = await oauth.refreshTokenGrantRequest(
    authorizationServer,
    client,
    clientAuth,
    refreshToken,
    options(signal),
  );
  const answer = await oauth.processRefreshTokenResponse(authorizationServer, client, response);
  return answer as unknown as TokenAnswer;
}

/** RFC 7009. The refresh token first: with it the platform ends the access tokens as well (§2.1). */
async function revokeAt(
  { client, clientAuth, options, server }: Platform,
  tokens: TokenAnswer,
): Promise<void> {
  const authorizationServer = await server();
  if (authorizationServer.revocation_endpoint === undefined) return;
  const token = typeof tokens.refresh_token === "string" ? tokens.refresh_token : tokens.access_token;
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  const response = await oauth.revocationRequest(
    authorizationServer,
    client,
    clientAuth,
    token,
    options(signal),
  );
  await oauth.processRevocationResponse(response);
}
