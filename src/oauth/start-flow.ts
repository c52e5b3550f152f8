import type { Clock } from "../domain/index.ts";
import { sha256Hex } from "../receive/index.ts";
import type { Sealer } from "../seal/index.ts";
import type { RedirectStateStore } from "../store/index.ts";
import type { DistinctHeaders } from "../verify/index.ts";
import { authorizationAddress } from "./authorization-address.ts";
import { browserCookie, browserOf } from "./browser-cookie.ts";
import { newFlow, sealFlow, secret } from "./flow.ts";
import type { Platform } from "./platform.ts";

export interface StartDeps {
  readonly platform: () => Platform;
  readonly states: RedirectStateStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly redirectUri: string;
  readonly responseMode: "query" | "form_post";
}

/** A flow has this long, from its start to its redirect. */
const FLOW_SECONDS = 600;

export interface StartedFlow {
  readonly location: string;
  readonly cookie: string;
}

/**
 * The start of the authorization code flow (RFC 6749 §4.1.1) with PKCE (RFC 7636), a state of 256 bits that works
 * once and in this browser only (RFC 9700 §4.7.1), and a nonce where OpenID Connect is spoken.
 * @throws Error when the platform cannot be discovered, or has no address to start at
 */
export async function startFlow(headers: DistinctHeaders, deps: StartDeps): Promise<StartedFlow> {
  const { states, sealer, clock, redirectUri, responseMode } = deps;
  const platform = deps.platform();
  const { authorization_endpoint: endpoint } = await platform.server();
  if (endpoint === undefined)
    throw new Error("OAUTH_AUTHORIZATION_URL: is not set, so no flow can be started here");
  const browser = browserOf(headers) ?? secret();
  const { state, flow } = newFlow(redirectUri, browser);
  const now = clock.now();
  const stateSha256 = sha256Hex(Buffer.from(state));
  const expiresAt = new Date(now.getTime() + FLOW_SECONDS * 1000);
  await states.register(stateSha256, expiresAt, now, sealFlow(flow, stateSha256, sealer));
  return {
    location: await authorizationAddress(endpoint, platform, { ...flow, state, responseMode }),
    cookie: browserCookie(browser, FLOW_SECONDS, responseMode === "form_post"),
  };
}
