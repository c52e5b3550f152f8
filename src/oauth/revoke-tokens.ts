import * as oauth from "oauth4webapi";
import type { TokenAnswer } from "../handlers/index.ts";
import type { StoredUserTokens } from "../store/index.ts";
import type { Platform } from "./platform.ts";
import { asking } from "./platform-error.ts";
import { openTokens, type UserTokensDeps } from "./refresh-tokens.ts";

const TIME_LIMIT_MS = 10_000;

/**
 * Revokes tokens that this process has leased, at the platform first: what is deleted here could not be revoked there
 * any more.
 * @param where `here` where the platform is gone for good, or the key that they were encrypted with
 */
export async function revokeLeased(
  stored: StoredUserTokens,
  owner: string,
  where: "everywhere" | "here",
  deps: UserTokensDeps,
): Promise<void> {
  const { store, platform } = deps;
  try {
    if (where === "everywhere") await revokeAt(platform(), openTokens(stored, deps));
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
  tokens: TokenAnswer,
): Promise<void> {
  const authorizationServer = await server();
  if (authorizationServer.revocation_endpoint === undefined) return;
  const token = typeof tokens.refresh_token === "string" ? tokens.refresh_token : tokens.access_token;
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  await asking(async () => {
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
