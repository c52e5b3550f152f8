import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { freePort } from "./free-port.ts";

export const CLIENT = { id: "oncehook", secret: "the-client-secret-of-oncehook" };

/** A real authorization server: OpenID Connect, PKCE required, refresh tokens that rotate. */
export interface OidcPlatform {
  readonly issuer: string;
  /** How often the token endpoint granted something, by grant type, and how often it refused. */
  readonly grants: { authorization_code: number; refresh_token: number; refused: number };
  /** The Authorization header of each request to the token endpoint. */
  readonly authorizations: (string | undefined)[];
  /** From now on every refresh token is refused. */
  endGrants(): void;
  /** Awaited before a request to the token endpoint reaches the server; may answer in its place by a status. */
  before: () => Promise<number | undefined> | number | undefined;
}

export interface OidcOptions {
  readonly redirectUris: readonly string[];
  readonly accessTokenSeconds?: number;
  /** The ID token has the claims too, as with many providers; otherwise the userinfo endpoint alone, as OpenID Connect has it. */
  readonly claimsInIdToken?: boolean;
  /** How clients authenticate; the discovery names no other way. */
  readonly clientAuth?: "client_secret_basic" | "client_secret_post";
}

export async function withOidcPlatform<T>(
  { redirectUris, accessTokenSeconds = 3_600, claimsInIdToken = false, clientAuth }: OidcOptions,
  use: (platform: OidcPlatform) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const provider = quietly(
    () =>
      new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT.id,
            client_secret: CLIENT.secret,
            redirect_uris: [...redirectUris],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            ...(clientAuth === undefined ? {} : { token_endpoint_auth_method: clientAuth }),
          },
        ],
        ...(clientAuth === undefined ? {} : { clientAuthMethods: [clientAuth] }),
        pkce: { required: () => true },
        rotateRefreshToken: true,
        issueRefreshToken: async () => true,
        features: {
          devInteractions: { enabled: true },
          revocation: { enabled: true, allowedPolicy: async () => true },
        },
        claims: { profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
        conformIdTokenClaims: !claimsInIdToken,
        ttl: {
          AccessToken: accessTokenSeconds,
          Grant: 3_600,
          Session: 3_600,
          Interaction: 600,
          IdToken: 3_600,
          RefreshToken: 3_600,
        },
        cookies: { keys: ["a-key-of-the-test-platform"] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: async (use) => claimsOf(id, use),
        }),
      }),
  );
  let refusing = false;
  provider.use(async (context, next) => {
    await next();
    if (context.path === "/me" && context.body?.sub === "ivan") context.body.sub = "ada";
    // As the server answers for a grant that its user has withdrawn.
    if (!refusing || context.path !== "/token") return;
    platform.grants.refused += 1;
    context.status = 400;
    context.body = { error: "invalid_grant" };
  });
  const answer = provider.callback();
  const platform: OidcPlatform = {
    issuer,
    grants: { authorization_code: 0, refresh_token: 0, refused: 0 },
    authorizations: [],
    before: () => undefined,
    endGrants: () => {
      refusing = true;
    },
  };
  provider.on("grant.success", ({ oidc }) => {
    const grant = oidc.params?.grant_type as "authorization_code" | "refresh_token";
    platform.grants[grant] += 1;
  });
  provider.on("grant.error", () => {
    platform.grants.refused += 1;
  });
  const server = createServer(async (request, response) => {
    if (request.url !== "/token") return answer(request, response);
    platform.authorizations.push(request.headers.authorization);
    const status = await platform.before();
    if (status !== undefined) return response.writeHead(status).end();
    return answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  try {
    return await use(platform);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/**
 * `eve` has an address that is not verified, and so has `erin`, of whom the provider says it in a text, as it says of
 * `nora` that hers is. The ID token of
 * `trudy` has ada's address without a word of that, and her own is verified at the userinfo endpoint; of `ivan` that endpoint
 * says that he is ada.
 */
function claimsOf(id: string, use: string) {
  if (id === "trudy" && use === "id_token") return { sub: id, email: "ada@example.com" };
  return {
    sub: id,
    name: `${id.charAt(0).toUpperCase()}${id.slice(1)}`,
    email: `${id}@example.com`,
    email_verified: ({ erin: "false", nora: "true" } as Record<string, string>)[id] ?? id !== "eve",
    groups: ["everybody", `${id}s`],
  };
}

/** It warns that it keeps everything in memory, which is what a test wants. */
function quietly<T>(make: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return make();
  } finally {
    console.warn = warn;
  }
}
