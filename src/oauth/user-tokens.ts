import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as oauth from "oauth4webapi";
import { type TokenResponse, type UserTokens, UserTokensMissing } from "../handlers/index.ts";
import type { StoredUserTokens } from "../store/index.ts";
import type { Platform } from "./platform.ts";
import { withLoggableErrors } from "./platform.ts";
import {
  decryptTokens,
  REFRESH_LEASE_MS,
  refresh,
  toAccessToken,
  type UserTokensDependencies,
} from "./refresh-tokens.ts";

/** The tokens of users, kept valid. */
export interface RenewableTokens extends UserTokens {
  /** Refreshes all that expire soon, until `isStopping`; resolves with the number of attempts. */
  refreshDue(isStopping?: () => boolean): Promise<number>;
  /**
   * Ends the authorization, at the platform where it can be, and deletes the tokens; false when there are none.
   * @param where `here` deletes them without a word to the platform, where that or their key is gone for good
   */
  revoke(userId: string, where: "everywhere" | "here"): Promise<boolean>;
}

const VALID_FOR_MS = 60_000;
const TIME_LIMIT_MS = 10_000;
const POLL_INTERVAL_MS = 50;
const BATCH_SIZE = 8;

export function createUserTokens(deps: UserTokensDependencies): RenewableTokens {
  const { store, clock, log } = deps;

  /** Half of a short life is enough: tokens of a minute would never be valid otherwise. */
  function isValid(tokens: TokenResponse, expiresAt: string | null): boolean {
    if (expiresAt === null) return true;
    const lifeMs =
      typeof tokens.expires_in === "number" ? tokens.expires_in * 1000 : Number.POSITIVE_INFINITY;
    return Date.parse(expiresAt) > clock.now().getTime() + Math.min(VALID_FOR_MS, lifeMs / 2);
  }

  /** @param dueBy what became due later is not leased */
  const newLease = (dueBy = clock.now()) => {
    const until = new Date(clock.now().getTime() + REFRESH_LEASE_MS);
    return { owner: randomUUID(), now: dueBy, until };
  };

  return {
    async for(userId) {
      const deadline = performance.now() + TIME_LIMIT_MS;
      for (;;) {
        const stored = await store.get(userId);
        if (stored === undefined) throw new UserTokensMissing(`user "${userId}" has not authorized us`);
        const tokens = decryptTokens(stored, deps);
        if (isValid(tokens, stored.expiresAt)) return toAccessToken(tokens, stored.expiresAt);
        if (stored.error !== null)
          throw new UserTokensMissing(`user "${userId}" must authorize us again: ${stored.error}`);
        if (performance.now() > deadline)
          throw new Error(`the tokens of user "${userId}" are being refreshed`);
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        // Another process is refreshing them: what it gets is what we need.
        if (leased === "leased") await sleep(POLL_INTERVAL_MS);
        if (typeof leased === "string") continue;
        // Another process may have refreshed them before the lease: their refresh token is then a new one.
        // biome-ignore lint/plugin: both are from our own database, and encrypted.
        if (Buffer.compare(leased.encrypted, stored.encrypted) !== 0)
          await store.release(userId, lease.owner);
        else {
          const fresh = await refresh(leased, lease.owner, deps);
          if (fresh !== undefined) return fresh;
        }
      }
    },
    async refreshDue(isStopping = () => false) {
      let tried = 0;
      // Tokens of a very short life are due again at once, and are left to the next round.
      const startedAt = clock.now();
      await store.repairTimes(REFRESH_LEASE_MS, startedAt);
      for (;;) {
        const lease = newLease(startedAt);
        const due = await store.leaseDue(lease, BATCH_SIZE);
        await Promise.all(
          due.map((stored) =>
            refresh(stored, lease.owner, deps).catch((error: unknown) =>
              log.warn({ err: error, user_id: stored.userId }, "a user's tokens could not be refreshed"),
            ),
          ),
        );
        tried += due.length;
        // A full load is followed by the next one at once.
        if (due.length < BATCH_SIZE || isStopping()) return tried;
      }
    },
    async revoke(userId, where) {
      const deadline = performance.now() + TIME_LIMIT_MS;
      for (;;) {
        // A refresh under way would store new tokens after the revocation.
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        if (leased === "absent") return false;
        if (leased !== "leased") {
          await revokeLeased(leased, lease.owner, where, deps);
          return true;
        }
        if (performance.now() > deadline)
          throw new Error(`the tokens of user "${userId}" are being refreshed`);
        await sleep(POLL_INTERVAL_MS);
      }
    },
  };
}

const REVOKE_TIMEOUT_MS = 10_000;

/**
 * Revokes tokens that this process has leased, at the platform first: what is deleted here could not be revoked there
 * any more.
 * @param where `here` where the platform is gone for good, or the key that they were encrypted with
 */
async function revokeLeased(
  stored: StoredUserTokens,
  owner: string,
  where: "everywhere" | "here",
  deps: UserTokensDependencies,
): Promise<void> {
  const { store, platform } = deps;
  try {
    if (where === "everywhere") await revokeAt(platform(), decryptTokens(stored, deps));
  } catch (error) {
    await store.release(stored.userId, owner);
    throw error;
  }
  // Unless the user has authorized us again meanwhile.
  await store.remove(stored.userId, owner);
}

/** RFC 7009. The refresh token first: with it the platform ends the access tokens as well (§2.1). */
async function revokeAt(
  { client, clientAuth, options, server }: Platform,
  tokens: TokenResponse,
): Promise<void> {
  const authorizationServer = await server();
  if (authorizationServer.revocation_endpoint === undefined) return;
  const token = typeof tokens.refresh_token === "string" ? tokens.refresh_token : tokens.access_token;
  const signal = AbortSignal.timeout(REVOKE_TIMEOUT_MS);
  await withLoggableErrors(async () => {
    const response = await oauth.revocationRequest(
      authorizationServer,
      client,
      clientAuth,
      token,
      options(signal),
    );
    await oauth.processRevocationResponse(response);
  });
}
