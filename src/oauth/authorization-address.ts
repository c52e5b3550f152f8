import * as oauth from "oauth4webapi";
import { speaksOpenId } from "./exchange-code.ts";
import type { Platform } from "./platform.ts";

/** What a flow is begun with. */
export interface Asked {
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
export async function authorizationAddress(
  endpoint: string,
  { settings }: Platform,
  { redirectUri, state, codeVerifier, nonce, responseMode }: Asked,
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
