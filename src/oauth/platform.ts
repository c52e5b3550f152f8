import * as oauth from "oauth4webapi";
import { boundedFetch } from "../fetch/index.ts";
import { createDiscovery, discover } from "./discovery.ts";

/** The authorization server, as it is configured. */
export interface PlatformSettings {
  /** With it the addresses are discovered (OpenID Connect Discovery 1.0, RFC 8414); without it they stand here. */
  readonly issuer: string | null;
  readonly authorizationUrl: string | null;
  readonly tokenUrl: string | null;
  readonly revocationUrl: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
  /** Who tokens belong to, where their own answer does not say it; `idField` may be a path, such as `data.id`. */
  readonly userInfo?: { readonly url?: string; readonly idField?: string };
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
  readonly [oauth.allowInsecureRequests]: boolean;
  readonly [oauth.customFetch]: (url: string, options: object) => Promise<Response>;
}

const TIMEOUT_MS = 5_000;

/**
 * Discovered at its first use: a platform that is away must not keep us from starting.
 * @param requireHttps whether plain HTTP is refused, also where a discovery names it; true in production
 */
export function createPlatform(settings: PlatformSettings, requireHttps: boolean): Platform {
  const { issuer, clientId, clientSecret } = settings;
  const options = (signal: AbortSignal): RequestOptions => ({
    signal,
    [oauth.allowInsecureRequests]: !requireHttps,
    [oauth.customFetch]: boundedFetch,
  });
  const look = async (address: string) => {
    const server = await discover(address, options(AbortSignal.timeout(TIMEOUT_MS)));
    if (requireHttps) assertHttps(server);
    return server;
  };
  return {
    settings,
    client: { client_id: clientId },
    clientAuth: oauth.ClientSecretBasic(clientSecret),
    options,
    server: issuer === null ? async () => configured(settings) : createDiscovery(() => look(issuer)),
  };
}

const ENDPOINTS = [
  "authorization_endpoint",
  "token_endpoint",
  "revocation_endpoint",
  "userinfo_endpoint",
] as const;

/** Codes and tokens go there, and the ID token is believed because of the connection that it came over. */
function assertHttps(server: oauth.AuthorizationServer): void {
  for (const name of ENDPOINTS) {
    const url = server[name];
    if (url !== undefined && URL.parse(url)?.protocol !== "https:") {
      throw new Error(`${server.issuer}: its discovery names a ${name} that is not https: ${url}`);
    }
  }
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
