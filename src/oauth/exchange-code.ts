import * as oauth from "oauth4webapi";
import { type CodeGrant, type ExchangeCode, Rejected, type TokenAnswer } from "../handlers/index.ts";
import type { Platform } from "./platform.ts";

/**
 * The code exchange of RFC 6749 §4.1.3 with client authentication in the header (§2.3.1), and for flows that were
 * started here with the PKCE verifier (RFC 7636 §4.5) and the check of the ID token (OpenID Connect Core §3.1.3.7).
 * @param redirectUri sent also for codes of other flows, where the platform wants it
 */
export function createExchange(platform: () => Platform, redirectUri: string | undefined): ExchangeCode {
  return async (grant, signal) => {
    const { client, clientAuth, options, settings, server } = platform();
    const authorizationServer = await server();
    const response = await oauth.genericTokenEndpointRequest(
      authorizationServer,
      client,
      clientAuth,
      "authorization_code",
      parametersOf(grant, redirectUri),
      options(signal),
    );
    const isOpenId = speaksOpenId(settings.scope);
    return finalWhereRefused(async () => {
      if (grant.flow === undefined) {
        const tokens = await oauth.processGenericTokenEndpointResponse(authorizationServer, client, response);
        return tokens as unknown as TokenAnswer;
      }
      const tokens = await oauth.processAuthorizationCodeResponse(authorizationServer, client, response, {
        expectedNonce: isOpenId ? grant.flow.nonce : oauth.expectNoNonce,
        requireIdToken: isOpenId,
      });
      const { sub: subject, azp } = oauth.getValidatedIdTokenClaims(tokens) ?? {};
      // OpenID Connect Core §3.1.3.7, rule 5, which the library asks of several audiences only.
      if (azp !== undefined && azp !== settings.clientId)
        throw new Error("azp of the ID token is another client");
      return { ...tokens, ...(subject === undefined ? {} : { sub: subject }) } as unknown as TokenAnswer;
    });
  };
}

export function speaksOpenId(scope: string | null): boolean {
  return scope?.split(" ").includes("openid") ?? false;
}

function parametersOf({ code, flow }: CodeGrant, redirectUri: string | undefined): Record<string, string> {
  if (flow !== undefined) return { code, redirect_uri: flow.redirect_uri, code_verifier: flow.code_verifier };
  return redirectUri === undefined ? { code } : { code, redirect_uri: redirectUri };
}

/** Only the platform's verdict on this code is final; a wrong client secret, say, is ours to mend (§5.2). */
async function finalWhereRefused<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant") {
      throw new Rejected("data.code: the platform does not accept this authorization code", { cause: error });
    }
    throw error;
  }
}
