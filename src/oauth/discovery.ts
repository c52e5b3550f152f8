import * as oauth from "oauth4webapi";

const FRESH_MS = 3_600_000;
/** A server that is away is left alone for this long, since anybody may start a flow. */
const AGAIN_MS = 5_000;
const NOT_FOUND = 404;

type Server = oauth.AuthorizationServer;

/**
 * A discovered authorization server: looked up at its first use, once for all who ask meanwhile, and kept for an
 * hour. Then it is looked up anew while what was found before still serves.
 * @throws what the look-up threw, while nothing was ever found
 */
export function createDiscovery(look: () => Promise<Server>): () => Promise<Server> {
  let known: { readonly server: Server; readonly at: number } | undefined;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  let underWay: Promise<Server> | undefined;

  async function find(): Promise<Server> {
    try {
      const server = await look();
      known = { server, at: performance.now() };
      failure = undefined;
      return server;
    } catch (error) {
      failure = { error, at: performance.now() };
      throw error;
    } finally {
      underWay = undefined;
    }
  }

  function shared(): Promise<Server> {
    underWay ??= find();
    return underWay;
  }

  return async () => {
    const now = performance.now();
    const isAway = failure !== undefined && now - failure.at < AGAIN_MS;
    if (known === undefined) {
      if (isAway) throw failure?.error;
      return shared();
    }
    if (now - known.at >= FRESH_MS && !isAway) shared().catch(() => {});
    return known.server;
  };
}

/** OpenID Connect Discovery 1.0, and for a server that does not speak it the metadata of RFC 8414. */
export async function discover(
  issuer: string,
  options: oauth.DiscoveryRequestOptions,
): Promise<oauth.AuthorizationServer> {
  const identifier = new URL(issuer);
  let response = await oauth.discoveryRequest(identifier, { ...options, algorithm: "oidc" });
  if (response.status === NOT_FOUND) {
    response = await oauth.discoveryRequest(identifier, { ...options, algorithm: "oauth2" });
  }
  return oauth.processDiscoveryResponse(identifier, response);
}
