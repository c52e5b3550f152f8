import * as oauth from "oauth4webapi";
import { boundedFetch } from "./bounded-fetch.ts";

/** The authorization server, as it is configured. */
export interface PlatformSettings {
  /** With it the addresses are discovered (RFC 8414, OpenID Connect Discovery 1.0); without it they stand here. */
  readonly issuer: string | null;
  readonly authorizationUrl: string | null;
  readonly tokenUrl: string | null;
  readonly revocationUrl: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
}

/** The authorization server, with what every request to it needs. */
export interface Platform {
  readonly settings: PlatformSettings;
  readonly client: oauth.Client;
  readonly clientAuth: oauth.ClientAuth;
  /** @throws Error when it cannot be discovered just now */
  server(): Promise<oauth.AuthorizationServer>;
  /** Options of a request: no redirects, a bound on the answer, and the caller's time limit. */
  options(signal: AbortSignal): RequestOptions;
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly [oauth.allowInsecureRequests]: true;
  readonly [oauth.customFetch]: (url: string, options: object) => Promise<Response>;
}

const FRESH_MS = 3_600_000;
const TIMEOUT_MS = 5_000;

/**
 * Discovered at its first use and kept for an hour: a platform that is away must not keep us from starting.
 * Plain HTTP is left to the configuration, which allows it outside production only.
 */
export function createPlatform(settings: PlatformSettings): Platform {
  let known: { readonly server: oauth.AuthorizationServer; readonly at: number } | undefined;
  const options = (signal: AbortSignal): RequestOptions => ({
    signal,
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: boundedFetch,
  });
  return {
    settings,
    client: { client_id: settings.clientId },
    clientAuth: oauth.ClientSecretBasic(settings.clientSecret),
    options,
    async server() {
      if (settings.issuer === null) return configured(settings);
      if (known !== undefined && performance.now() - known.at < FRESH_MS) return known.server;
      try {
        known = {
          server: await discover(settings.issuer, options(AbortSignal.timeout(TIMEOUT_MS))),
          at: performance.now(),
        };
      } catch (error) {
        // What was found an hour ago is better than nothing.
        if (known === undefined) throw error;
      }
      return known.server;
    },
  };
}

function configured({
  authorizationUrl,
  tokenUrl,
  revocationUrl,
}: PlatformSettings): oauth.AuthorizationServer {
  const endpoints = {
    ...(authorizationUrl === null ? {} : { authorization_endpoint: authorizationUrl }),
    ...(tokenUrl === null ? {} : { token_endpoint: tokenUrl }),
    ...(revocationUrl === null ? {} : { revocation_endpoint: revocationUrl }),
  };
  return { issuer: new URL(tokenUrl ?? authorizationUrl ?? "http://localhost").origin, ...endpoints };
}

async function discover(issuer: string, options: RequestOptions): Promise<oauth.AuthorizationServer> {
  const identifier = new URL(issuer);
  const response = await oauth.discoveryRequest(identifier, options);
  return oauth.processDiscoveryResponse(identifier, response);
}
