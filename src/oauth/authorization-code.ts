import * as oauth from "oauth4webapi";
import type { Log } from "../domain/index.ts";
import {
  type CodeGrant,
  type ExchangeCode,
  Rejected,
  type TokenResponse,
  userIdOf,
} from "../handlers/index.ts";
import { normalizedTokenResponse } from "./normalized-token-response.ts";
import type { Platform } from "./platform.ts";
import { isInvalidGrant, PlatformError, withLoggableErrors } from "./platform.ts";
import { userIdFromUserInfo } from "./user-info.ts";

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
export function createCodeExchange(
  platform: () => Platform,
  { redirectUri, timeLimitMs, log }: ExchangeOptions,
): ExchangeCode {
  return async (grant) => {
    const at = platform();
    const signal = AbortSignal.timeout(timeLimitMs);
    const server = await at.server();
    if (server.token_endpoint === undefined)
      throw new PlatformError(`${server.issuer} names no token_endpoint: check OAUTH_ISSUER`);
    const answer = await rejectInvalidGrant(async () => {
      const tokens = await requestTokens(at, server, grant, redirectUri, signal);
      const subject = oauth.getValidatedIdTokenClaims(tokens)?.sub;
      return { ...tokens, ...(subject === undefined ? {} : { sub: subject }) } as unknown as TokenResponse;
    });
    // From here on the code is spent: whatever fails, the tokens are returned.
    if (grant.isUserKnown === true || userIdOf(answer) !== undefined) return answer;
    const user_id = await userIdFromUserInfo(at, server, answer, { signal, log });
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
  const response = await normalizedTokenResponse(raw, isOpenId);
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

async function rejectInvalidGrant<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await withLoggableErrors(run);
  } catch (error) {
    if (!isInvalidGrant(error)) throw error;
    throw new Rejected("data.code: the platform does not accept this authorization code", { cause: error });
  }
}

/** The parameters that start a flow. */
interface AuthorizationParameters {
  readonly redirectUri: string;
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly responseMode: "query" | "form_post";
}

/**
 * Where a browser is sent to begin the authorization code flow (RFC 6749 §4.1.1) with PKCE (RFC 7636), and with a nonce where
 * OpenID Connect is spoken.
 */
export async function authorizationUrl(
  endpoint: string,
  { settings }: Platform,
  { redirectUri, state, codeVerifier, nonce, responseMode }: AuthorizationParameters,
): Promise<string> {
  const url = new URL(endpoint);
  const parameters = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    ...(responseMode === "form_post" ? { response_mode: "form_post" } : {}),
    ...(settings.scope === null ? {} : { scope: settings.scope }),
    ...(speaksOpenId(settings.scope) ? { nonce } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}
