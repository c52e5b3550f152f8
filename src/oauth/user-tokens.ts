import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type TokenAnswer, type UserTokens, UserTokensMissing } from "../handlers/index.ts";
import { handed, openTokens, REFRESH_LEASE_MS, refresh, type UserTokensDeps } from "./refresh-tokens.ts";
import { revokeLeased } from "./revoke-tokens.ts";

/** The tokens of users, kept valid. */
export interface KeptTokens extends UserTokens {
  /** Refreshes all that expire soon, until it is told to stop; resolves with how many it tried. */
  refreshDue(isStopping?: () => boolean): Promise<number>;
  /**
   * Ends the authorization, at the platform where it can be, and deletes the tokens; false when there are none.
   * @param where `here` deletes them without a word to the platform, where that or their key is gone for good
   */
  revoke(userId: string, where: "everywhere" | "here"): Promise<boolean>;
}

const VALID_FOR_MS = 60_000;
const TIME_LIMIT_MS = 10_000;
const POLL_MS = 50;
const AT_ONCE = 8;

export function createUserTokens(deps: UserTokensDeps): KeptTokens {
  const { store, clock, log } = deps;

  /** Half of a short life is enough: tokens of a minute would never be valid otherwise. */
  function isValid(tokens: TokenAnswer, expiresAt: string | null): boolean {
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
        const tokens = openTokens(stored, deps);
        if (isValid(tokens, stored.expiresAt)) return handed(tokens, stored.expiresAt);
        if (stored.error !== null)
          throw new UserTokensMissing(`user "${userId}" must authorize us again: ${stored.error}`);
        if (performance.now() > deadline)
          throw new Error(`the tokens of user "${userId}" are being refreshed`);
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        // Another process is refreshing them: what it gets is what we need.
        if (leased === "leased") await sleep(POLL_MS);
        if (typeof leased === "string") continue;
        // Somebody may have refreshed them between the look and the lease: their refresh token is a new one.
        // biome-ignore lint/plugin: both are from our own database, and encrypted.
        if (Buffer.compare(leased.sealed, stored.sealed) !== 0) await store.release(userId, lease.owner);
        else {
          const fresh = await refresh(leased, lease.owner, deps);
          if (fresh !== undefined) return fresh;
        }
      }
    },
    async refreshDue(isStopping = () => false) {
      let tried = 0;
      // Tokens of a very short life are due again at once, and are left to the next round.
      const begun = clock.now();
      await store.mendTimes(REFRESH_LEASE_MS, begun);
      for (;;) {
        const lease = newLease(begun);
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
    async revoke(userId, where) {
      const deadline = performance.now() + TIME_LIMIT_MS;
      for (;;) {
        // A refresh under way would bring tokens that nobody has revoked.
        const lease = newLease();
        const leased = await store.leaseOne(userId, lease);
        if (leased === "absent") return false;
        if (leased !== "leased") {
          await revokeLeased(leased, lease.owner, where, deps);
          return true;
        }
        if (performance.now() > deadline)
          throw new Error(`the tokens of user "${userId}" are being refreshed`);
        await sleep(POLL_MS);
      }
    },
  };
}
