import * as oauth from "oauth4webapi";
import type { Log } from "../domain/index.ts";
import { type CodeGrant, type ExchangeCode, Rejected, type TokenAnswer, userOf } from "../handlers/index.ts";
import type { Platform } from "./platform.ts";
import { asking, isFinal, PlatformError } from "./platform-error.ts";
import { standardAnswer } from "./standard-answer.ts";
import { userFromUserInfo } from "./user-info.ts";

export interface ExchangeOptions {
  /** Sent also with the codes of flows that were not started here, where the platform wants it. */
  readonly redirectUri: string | undefined;
  /** Longer than a handler's: an exchange that is cut off may have spent the code. */
  readonly timeLimitMs: number;
  readonly log: Log;
}

/**
 * The code exchange of RFC 6749 §4.1.3 with client authentication in the header (§2.3.1), and for flows that were
 * started here with the PKCE verifier (RFC 7636 §4.5) and the check of the ID token (OpenID Connect Core §3.1.3.7).
 */
export function createExchange(
  platform: () => Platform,
  { redirectUri, timeLimitMs, log }: ExchangeOptions,
): ExchangeCode {
  return async (grant) => {
    const at = platform();
    const signal = AbortSignal.timeout(timeLimitMs);
    const server = await at.server();
    if (server.token_endpoint === undefined)
      throw new PlatformError(`${server.issuer} names no token_endpoint: check OAUTH_ISSUER`);
    const answer = await finalWhereRefused(async () => {
      const tokens = await requestTokens(at, server, grant, redirectUri, signal);
      const subject = oauth.getValidatedIdTokenClaims(tokens)?.sub;
      return { ...tokens, ...(subject === undefined ? {} : { sub: subject }) } as unknown as TokenAnswer;
    });
    // From here on the code is spent: whatever fails, the tokens are returned.
    if (grant.isUserKnown === true || userOf(answer) !== undefined) return answer;
    const user_id = await userFromUserInfo(at, server, answer, { signal, log });
    return user_id === undefined ? answer : { ...answer, user_id };
  };
}

/** The exchange itself. @throws what the library does; `asking` makes of it what may be logged */
export async function requestTokens(
  { client, clientAuth, options, settings }: Platform,
  server: oauth.AuthorizationServer,
  grant: CodeGrant,
  redirectUri: string | undefined,
  signal: AbortSignal,
): Promise<oauth.TokenEndpointResponse> {
  const raw = await oauth.genericTokenEndpointRequest(
    server,
    client,
    clientAuth,
    "authorization_code",
    parametersOf(grant, redirectUri),
    options(signal),
  );
  const isOpenId = speaksOpenId(settings.scope);
  const response = await standardAnswer(raw, isOpenId);
  const tokens =
    grant.flow === undefined
      ? await oauth.processGenericTokenEndpointResponse(server, client, response)
      : await oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: isOpenId ? grant.flow.nonce : oauth.expectNoNonce,
          requireIdToken: isOpenId,
        });
  const azp = oauth.getValidatedIdTokenClaims(tokens)?.azp;
  // OpenID Connect Core §3.1.3.7, rule 5, which the library asks of several audiences only.
  if (azp !== undefined && azp !== settings.clientId)
    throw new Error("azp of the ID token is another client");
  return tokens;
}

export function speaksOpenId(scope: string | null): boolean {
  return scope?.split(" ").includes("openid") ?? false;
}

function parametersOf({ code, flow }: CodeGrant, redirectUri: string | undefined): Record<string, string> {
  if (flow !== undefined) return { code, redirect_uri: flow.redirect_uri, code_verifier: flow.code_verifier };
  return redirectUri === undefined ? { code } : { code, redirect_uri: redirectUri };
}

async function finalWhereRefused<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await asking(run);
  } catch (error) {
    if (!isFinal(error)) throw error;
    throw new Rejected("data.code: the platform does not accept this authorization code", { cause: error });
  }
}
