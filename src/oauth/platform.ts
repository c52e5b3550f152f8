import * as oauth from "oauth4webapi";
import { boundedFetch } from "../system/index.ts";

type Server = oauth.AuthorizationServer;

export interface PlatformSettings {
  /** With it the addresses are discovered (OpenID Connect Discovery 1.0, RFC 8414); without it they stand here. */
  readonly issuer: string | null;
  readonly authorizationUrl?: string | null;
  readonly tokenUrl?: string | null;
  readonly revocationUrl?: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
  /** Who tokens belong to, where their own answer does not say it; `idField` may be a path, such as `data.id`. */
  readonly userInfo?: { readonly url?: string | undefined; readonly idField?: string | undefined };
  /** Undefined: as the discovery says, and in the header where it says nothing. */
  readonly clientAuth?: "client_secret_basic" | "client_secret_post" | undefined;
  /** Parameters of an authorization request beside ours, as a query: `access_type=offline`. */
  readonly authorizationParameters?: string | undefined;
  /** Whether an issuer for every tenant of Microsoft is accepted: any customer of theirs can then sign in. */
  readonly acceptsTenants?: boolean;
}

/** The authorization server, with what every request to it needs. */
export interface Platform extends ReturnType<typeof createPlatform> {}

const TIMEOUT_MS = 5_000;

/**
 * Discovered at its first use: a platform that is away must not keep us from starting.
 * @param requireHttps whether plain HTTP is refused, also where a discovery names it; true in production
 */
export function createPlatform(settings: PlatformSettings, requireHttps: boolean) {
  const { issuer, clientId, acceptsTenants = false } = settings;
  /** Options of a request: no redirects, a bound on the answer, and the caller's time limit. */
  const options = (signal: AbortSignal) => ({
    signal,
    [oauth.allowInsecureRequests]: !requireHttps,
    [oauth.customFetch]: boundedFetch,
  });
  const look = async (address: string) => {
    const server = await discover(address, acceptsTenants, options(AbortSignal.timeout(TIMEOUT_MS)));
    if (requireHttps) assertHttps(server);
    return server;
  };
  return {
    settings,
    client: { client_id: clientId } as oauth.Client,
    clientAuth: clientAuthentication(settings),
    options,
    /** @throws Error when it cannot be discovered just now */
    server: issuer === null ? async () => configured(settings) : createDiscovery(() => look(issuer)),
  };
}

/**
 * RFC 6749 §2.3.1: in the header, unless `clientAuth` names the body. Without `clientAuth`, a server that takes the
 * secret only in the body, as Apple's does, gets it there.
 */
function clientAuthentication({ clientAuth, clientSecret }: PlatformSettings): oauth.ClientAuth {
  const methods = {
    client_secret_basic: oauth.ClientSecretBasic(clientSecret),
    client_secret_post: oauth.ClientSecretPost(clientSecret),
  };
  return (server, ...request) => {
    const offered = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const isBodyOnly = offered.includes("client_secret_post") && !offered.includes("client_secret_basic");
    const method = clientAuth ?? (isBodyOnly ? "client_secret_post" : "client_secret_basic");
    return methods[method](server, ...request);
  };
}

/** Codes and tokens go there, and the ID token is believed because of the connection that it came over. */
function assertHttps(server: Server): void {
  for (const kind of ["authorization", "token", "revocation", "userinfo"] as const) {
    const name = `${kind}_endpoint` as const;
    const url = server[name];
    if (url !== undefined && URL.parse(url)?.protocol !== "https:") {
      throw new Error(`${server.issuer}: its discovery names a ${name} that is not https: ${url}`);
    }
  }
}

function configured({ authorizationUrl, tokenUrl, revocationUrl }: PlatformSettings): Server {
  const endpoints = {
    ...(authorizationUrl != null && { authorization_endpoint: authorizationUrl }),
    ...(tokenUrl != null && { token_endpoint: tokenUrl }),
    ...(revocationUrl != null && { revocation_endpoint: revocationUrl }),
  };
  return { issuer: new URL(tokenUrl ?? authorizationUrl ?? "http://localhost").origin, ...endpoints };
}

const FRESH_MS = 3_600_000;
/** An unreachable server is not asked again for this long, since any client may start a flow. */
const AGAIN_MS = 5_000;

/**
 * A discovered authorization server: looked up at its first use, once for all concurrent callers, and kept for an
 * hour. It is then looked up again while the earlier result still serves.
 * @throws the look-up's error, until one look-up has succeeded
 */
export function createDiscovery(look: () => Promise<Server>): () => Promise<Server> {
  let known: { readonly server: Server; readonly at: number } | undefined;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let inFlight: Promise<Server> | undefined;

  async function find(): Promise<Server> {
    try {
      known = { server: await look(), at: performance.now() };
      failure = undefined;
      return known.server;
    } catch (error) {
      failure = { error, at: performance.now() };
      throw error;
    } finally {
      inFlight = undefined;
    }
  }

  return async () => {
    const now = performance.now();
    const isAway = failure !== undefined && now - failure.at < AGAIN_MS;
    if (known === undefined) {
      if (isAway) throw failure?.error;
      inFlight ??= find();
      return inFlight;
    }
    if (now - known.at >= FRESH_MS && !isAway) {
      inFlight ??= find();
      inFlight.catch(() => {});
    }
    return known.server;
  };
}

/** OpenID Connect Discovery 1.0, and for a server that does not speak it the metadata of RFC 8414. */
async function discover(issuer: string, acceptsTenants: boolean, options: oauth.DiscoveryRequestOptions) {
  const identifier = new URL(issuer);
  let response = await oauth.discoveryRequest(identifier, { ...options, algorithm: "oidc" });
  if (response.status === 404) {
    response = await oauth.discoveryRequest(identifier, { ...options, algorithm: "oauth2" });
  }
  const everyTenant = acceptsTenants ? issuer.replace(EVERY_TENANT, TENANT) : issuer;
  return oauth
    .processDiscoveryResponse(identifier, response.clone())
    .catch(() => oauth.processDiscoveryResponse(new URL(everyTenant), response));
}

const EVERY_TENANT = /(?<=\/)(?:common|organizations)(?=\/v2\.0$)/;
const TENANT = "{tenantid}";
const TENANT_ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

/**
 * The issuer that a token or a redirect must name. Microsoft's discovery for every tenant has `{tenantid}` in it, in whose
 * place the user's tenant stands (https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-the-issuer).
 * @param tenant a text with the tenant's id, such as the claim `tid`
 */
export function issuerOf({ issuer }: Server, tenant: unknown): string {
  return issuer.replace(TENANT, TENANT_ID.exec(String(tenant))?.[0] ?? "");
}

/** Handlers get the type with the token. By itself the library throws for all but bearer and DPoP, and loses the answer. */
export const ANY_TOKEN_TYPE: { readonly recognizedTokenTypes: oauth.RecognizedTokenTypes } = {
  recognizedTokenTypes: new Proxy({}, { get: () => () => {} }),
};

/**
 * The platform's answer was no success. The library's own errors carry whole answers in their causes: claims, a nonce,
 * fields of any name. Errors end up in logs, so this one says only what is the matter.
 */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  /** The `error` of RFC 6749 §5.2, where the platform gave one. */
  readonly oauthError: string | undefined;

  constructor(message: string, oauthError?: string) {
    super(message);
    this.oauthError = oauthError;
  }
}

/** Only this answer to a code or a refresh token is final. A wrong client secret, say, is ours to mend. */
export function isInvalidGrant(error: unknown): boolean {
  return error instanceof PlatformError && error.oauthError === "invalid_grant";
}

export async function withLoggableErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) {
      throw new PlatformError(`the platform answered ${error.status}: ${error.error}`, error.error);
    }
    if (error instanceof oauth.WWWAuthenticateChallengeError) {
      throw new PlatformError(`the platform answered ${error.status} and wants another authentication`);
    }
    if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
      throw new PlatformError(error.message);
    throw error;
  }
}
