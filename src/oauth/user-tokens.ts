import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import type { Clock, Log } from "../domain/index.ts";
import {
  type AccessToken,
  encryptTokens,
  type TokenResponse,
  UserTokensMissing,
  userTokensContext,
} from "../handlers/index.ts";
import type { UserTokens as StoredTokens, StoredUserTokens } from "../store/index.ts";
import type { Encryptor } from "../system/index.ts";
import { normalizedTokenResponse } from "./authorization-code.ts";
import { ANY_TOKEN_TYPE, isInvalidGrant, type Platform, withLoggableErrors } from "./platform.ts";

/** The tokens of users, kept valid. */
export type RenewableTokens = ReturnType<typeof createUserTokens>;

const VALID_FOR_MS = 60_000;
const TIME_LIMIT_MS = 10_000;
const POLL_INTERVAL_MS = 50;
const BATCH_SIZE = 8;

export function createUserTokens(given: UserTokensDependencies) {
  const deps: RefreshDependencies = { ...given, unsaved: new Map() };
  const { store, clock, log } = deps;

  /** Half of a short life is enough: tokens of a minute would never be valid otherwise. */
  function isValid(tokens: TokenResponse, expiresAt: string | null): boolean {
    if (expiresAt === null) return true;
    const lifeMs = typeof tokens.expires_in === "number" ? tokens.expires_in * 1000 : Number.POSITIVE_INFINITY;
    return Date.parse(expiresAt) > clock.now().getTime() + Math.min(VALID_FOR_MS, lifeMs / 2);
  }

  /** @param dueBy what became due later is not leased */
  const newLease = (dueBy = clock.now()) => {
    const until = new Date(clock.now().getTime() + REFRESH_LEASE_MS);
    return { owner: randomUUID(), now: dueBy, until, endsAt: performance.now() + REFRESH_LEASE_MS };
  };

  return {
    async for(userId: string): Promise<AccessToken> {
      const deadline = performance.now() + TIME_LIMIT_MS;
      for (;;) {
        const stored = await store.get(userId);
        if (stored === undefined) throw new UserTokensMissing(`user "${userId}" has not authorized us`);
        const tokens = decryptTokens(stored, deps);
        if (isValid(tokens, stored.expiresAt)) return toAccessToken(tokens, stored.expiresAt);
        if (stored.error !== null)
          throw new UserTokensMissing(`user "${userId}" must authorize us again: ${stored.error}`);
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        // Another process is refreshing them: what it gets is what we need.
        if (leased === "leased") await waitForRefresh(userId, deadline);
        if (typeof leased === "string") continue;
        // Another process may have replaced the tokens before the lease.
        // biome-ignore lint/plugin: ciphertexts of our database, from no client.
        if (Buffer.compare(leased.encrypted, stored.encrypted) !== 0) await store.release(userId, lease.owner);
        else {
          const fresh = await refresh(leased, lease, deps);
          if (fresh !== undefined) return fresh;
        }
      }
    },
    /** Refreshes all that expire soon, until `isStopping`; resolves with the number of attempts. */
    async refreshDue(isStopping = () => false): Promise<number> {
      let tried = 0;
      // Tokens of a very short life are due again at once, and are left to the next round.
      const startedAt = clock.now();
      await store.repairTimes(REFRESH_LEASE_MS, startedAt);
      for (;;) {
        const lease = newLease(startedAt);
        const due = await store.leaseDue(lease, BATCH_SIZE);
        await Promise.all(
          due.map((stored) =>
            refresh(stored, lease, deps).catch((error: unknown) =>
              log.warn({ err: error, user_id: stored.userId }, "a user's tokens could not be refreshed"),
            ),
          ),
        );
        tried += due.length;
        // A full load is followed by the next one at once.
        if (due.length < BATCH_SIZE || isStopping()) return tried;
      }
    },
    /**
     * Ends the authorization, at the platform where it can be, and deletes the tokens; false when there are none.
     * @param where `here` deletes them without a word to the platform, where that or their key is gone for good
     */
    async revoke(userId: string, where: "everywhere" | "here"): Promise<boolean> {
      const deadline = performance.now() + TIME_LIMIT_MS;
      for (;;) {
        // A refresh under way would store new tokens after the revocation.
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        if (leased === "absent") return false;
        if (leased !== "leased") {
          // At the platform first: what is deleted here could not be revoked there any more.
          if (where === "everywhere")
            await revokeAtPlatform(leased, deps).catch(async (error: unknown) => {
              await store.release(userId, lease.owner);
              throw error;
            });
          // Unless the user has authorized us again meanwhile.
          await store.remove(userId, lease.owner);
          return true;
        }
        await waitForRefresh(userId, deadline);
      }
    },
  };
}

async function waitForRefresh(userId: string, deadline: number): Promise<void> {
  if (performance.now() > deadline) throw new Error(`the tokens of user "${userId}" are being refreshed`);
  await sleep(POLL_INTERVAL_MS);
}

/** RFC 7009. The refresh token first: with it the platform ends the access tokens as well (§2.1). */
async function revokeAtPlatform(stored: StoredUserTokens, deps: RefreshDependencies): Promise<void> {
  const tokens = decryptTokens(stored, deps);
  const platform = deps.platform();
  const { client, clientAuth } = platform;
  const server = await platform.server();
  if (server.revocation_endpoint === undefined) return;
  const refreshToken = refreshTokenOf(tokens, deps);
  const token = typeof refreshToken === "string" ? refreshToken : tokens.access_token;
  const options = platform.options(AbortSignal.timeout(TIME_LIMIT_MS));
  await withLoggableErrors(async () => {
    const response = await oauth.revocationRequest(server, client, clientAuth, token, options);
    await oauth.processRevocationResponse(response);
  });
}

interface UserTokensDependencies {
  readonly store: StoredTokens;
  readonly platform: () => Platform;
  readonly encryptor: Encryptor;
  readonly clock: Clock;
  readonly log: Log;
}

type RefreshToken = TokenResponse["refresh_token"] | undefined;

interface RefreshDependencies extends UserTokensDependencies {
  /** By the stored refresh token: the one that the platform gave for it, until the database has that. */
  readonly unsaved: Map<RefreshToken, RefreshToken>;
}

const MAX_UNSAVED = 1_000;
const RETRY_AFTER_MS = 60_000;
/** A lease outlives asking and storing. */
const REFRESH_LEASE_MS = 60_000;

/** @throws DecryptionError when they were encrypted with a key that is not configured */
function decryptTokens({ userId, encrypted }: StoredUserTokens, { encryptor }: UserTokensDependencies): TokenResponse {
  return JSON.parse(Buffer.from(encryptor.decrypt(encrypted, userTokensContext(userId))).toString("utf8"));
}

function refreshTokenOf(tokens: TokenResponse, { unsaved }: RefreshDependencies): RefreshToken {
  return unsaved.get(tokens.refresh_token) ?? tokens.refresh_token;
}

function toAccessToken(tokens: TokenResponse, expiresAt: string | Date | null): AccessToken {
  const type = typeof tokens.token_type === "string" ? tokens.token_type : "Bearer";
  return {
    accessToken: tokens.access_token,
    // The name is of any case (RFC 6749 §5.1), but not every API takes it so.
    tokenType: /^bearer$/i.test(type) ? "Bearer" : type,
    scope: typeof tokens.scope === "string" ? tokens.scope : null,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    parameters: tokens.redirect_parameters ?? {},
  };
}

/**
 * RFC 6749 §6. The platform may give a new refresh token, and the old one then works no more (RFC 9700 §4.14.2).
 * @returns the new tokens, however short their life is; undefined where there is nothing to refresh them with
 * @throws UserTokensMissing when the platform refuses it for good. Another error when the platform could not be asked
 *   or its answer could not be stored
 */
async function refresh(
  stored: StoredUserTokens,
  { owner, endsAt }: { readonly owner: string; readonly endsAt: number },
  deps: RefreshDependencies,
): Promise<AccessToken | undefined> {
  const { store, platform, encryptor, clock, log } = deps;
  const { userId } = stored;
  let tokens: TokenResponse;
  let answer: TokenResponse;
  try {
    tokens = decryptTokens(stored, deps);
    const refreshToken = refreshTokenOf(tokens, deps);
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
    throw isOver ? new UserTokensMissing(`user "${userId}" must authorize us again`, { cause: error }) : error;
  }
  const now = clock.now();
  const fresh = { ...tokens, ...answer };
  const kept = encryptTokens(fresh, userId, encryptor, now);
  keepInMemory(tokens.refresh_token, fresh.refresh_token, deps);
  if (await saveUntil(endsAt, () => store.save(userId, owner, kept, now))) {
    deps.unsaved.delete(tokens.refresh_token);
  } else {
    const message = "refreshed tokens were not stored: the user has authorized us again meanwhile";
    log.warn({ user_id: userId }, message);
  }
  return toAccessToken(fresh, kept.expiresAt);
}

/** The old token may work no more. If the database stays away beyond the lease, the next refresh sends the new one. */
function keepInMemory(stored: RefreshToken, fresh: RefreshToken, { unsaved }: RefreshDependencies): void {
  const [oldest] = unsaved.keys();
  if (unsaved.size >= MAX_UNSAVED) unsaved.delete(oldest);
  unsaved.set(stored, fresh);
}

/** @param endsAt the lease's end, by `performance.now()`: past it another process may refresh the tokens */
async function saveUntil(endsAt: number, save: () => Promise<boolean>): Promise<boolean> {
  for (;;) {
    try {
      return await save();
    } catch (error) {
      if (performance.now() >= endsAt) throw error;
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

/** The answer always has the refresh token that works from now on: the old one if the platform gives none. */
async function ask(platform: Platform, token: string): Promise<TokenResponse> {
  const { client, clientAuth } = platform;
  const server = await platform.server();
  const options = platform.options(AbortSignal.timeout(TIME_LIMIT_MS));
  return withLoggableErrors(async () => {
    const response = await oauth.refreshTokenGrantRequest(server, client, clientAuth, token, options);
    // The user is known already, and a fault of an ID token must not lose a rotated refresh token.
    const answer = await normalizedTokenResponse(response, false);
    const tokens = await oauth.processRefreshTokenResponse(server, client, answer, ANY_TOKEN_TYPE);
    return { refresh_token: token, ...tokens } as unknown as TokenResponse;
  });
}
