import type { Clock } from "../domain/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { DistinctHeaders } from "../verify/index.ts";
import { authorizationAddress } from "./authorization-address.ts";
import { browserCookie, browserOf } from "./browser-cookie.ts";
import { FLOW_SECONDS, newFlow, secret } from "./flow.ts";
import type { Platform } from "./platform.ts";

export interface StartDeps {
  readonly platform: () => Platform;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly redirectUri: string;
  readonly responseMode: "query" | "form_post";
}

export interface StartedFlow {
  readonly location: string;
  readonly cookie: string;
}

/**
 * The start of the authorization code flow (RFC 6749 §4.1.1) with PKCE (RFC 7636), a state that works once and in this browser
 * only (RFC 9700 §4.7.1), and a nonce where OpenID Connect is spoken. It writes nothing: anybody can start flows.
 * @throws Error when the platform cannot be discovered, or has no address to start at
 */
export async function startFlow(headers: DistinctHeaders, deps: StartDeps): Promise<StartedFlow> {
  const { sealer, clock, redirectUri, responseMode } = deps;
  const platform = deps.platform();
  const { authorization_endpoint: endpoint } = await platform.server();
  if (endpoint === undefined)
    throw new Error("OAUTH_AUTHORIZATION_URL: is not set, so no flow can be started here");
  const browser = browserOf(headers) ?? secret();
  const { state, flow } = newFlow(redirectUri, browser, clock.now(), sealer);
  return {
    location: await authorizationAddress(endpoint, platform, { ...flow, state, responseMode }),
    cookie: browserCookie(browser, FLOW_SECONDS, responseMode === "form_post"),
  };
}
