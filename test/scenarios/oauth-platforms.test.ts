import { text } from "node:stream/consumers";
import { generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { withHttpServer } from "../support/http-server.ts";
import { withFlow } from "../support/oauth-flow.ts";
import { type ReceiverOptions, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { UserAgent } from "../support/user-agent.ts";

const CLIENT = { OAUTH_CLIENT_ID: "us", OAUTH_CLIENT_SECRET: "the-secret-of-ours" };
const START = "/api/platform/oauth-start";
const JSON_ONLY = { headers: { accept: "application/json" } };

interface Visit {
  readonly receiver: TestReceiver;
  /** The authorization request that the receiver sent the browser with. */
  readonly asked: URLSearchParams;
  /** The browser comes back with a code and these parameters. */
  back(parameters?: Record<string, string>): Promise<{ status: number; body: unknown }>;
}

/** Starts a flow at a server that answers by path, as a platform's documentation shows it. */
function withPlatform(
  answers: (path: string, origin: string, form: URLSearchParams) => unknown,
  env: (origin: string) => Record<string, string>,
  use: (visit: Visit) => Promise<void>,
  options: Omit<ReceiverOptions, "env"> = {},
): Promise<void> {
  let origin = "";
  return withHttpServer(
    async (request, response) => {
      const form = new URLSearchParams(await text(request));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(await answers(request.url ?? "", origin, form)));
    },
    (at) => {
      origin = at;
      const startAndUse = async (receiver: TestReceiver) => {
        const agent = new UserAgent();
        const started = await agent.request(`${receiver.publicOrigin}${START}`);
        const asked = new URL(started.headers.get("location") ?? "").searchParams;
        const back = async (parameters = {}) => {
          const query = new URLSearchParams({ code: "c1", state: asked.get("state") ?? "", ...parameters });
          const url = `${receiver.publicOrigin}/api/platform/oauth-callback?${query}`;
          const response = await agent.request(url, JSON_ONLY);
          return { status: response.status, body: await response.json() };
        };
        await use({ receiver, asked, back });
      };
      return withReceiver("sqlite", startAndUse, { ...options, env: { ...CLIENT, ...env(at) } });
    },
  );
}

describe("a platform that takes the client's secret in the body", () => {
  it.each([
    ["the discovery offers nothing else", {}, { clientAuth: "client_secret_post" }],
    ["OAUTH_CLIENT_AUTH says so", { OAUTH_CLIENT_AUTH: "client_secret_post" }, {}],
  ] as const)("the receiver sends the secret in the body where %s", (_title, env, oidc) =>
    withFlow(
      "sqlite",
      async ({ arrive, platform, receiver }) => {
        const { agent, back } = await arrive();
        expect((await agent.request(back)).status).toBe(303);
        expect(platform.grants).toMatchObject({ authorization_code: 1, refused: 0 });
        expect(platform.authorizations).toEqual([undefined]);
        const revoke = "/api/v1/users/ada/tokens";
        expect((await receiver.admin(revoke, { method: "DELETE" })).status).toBe(204);
      },
      { env, oidc },
    ),
  );
});

it("an authorization request has OAUTH_AUTHORIZATION_PARAMETERS with an issuer too", () =>
  withFlow(
    "sqlite",
    async ({ startUrl }) => {
      const started = await fetch(startUrl, { redirect: "manual" });
      const { searchParams } = new URL(started.headers.get("location") ?? "");
      expect(Object.fromEntries(searchParams)).toMatchObject({
        access_type: "offline",
        prompt: "consent",
        client_id: "oncehook",
      });
    },
    { env: { OAUTH_AUTHORIZATION_PARAMETERS: "access_type=offline&prompt=consent" } },
  ));

it.each(["state=s", "scope=a&access_type=offline"])(
  "OAUTH_AUTHORIZATION_PARAMETERS with %s is refused, since the flow sets it",
  (query) => {
    const env = { CALLBACK_BASE_URL: "http://localhost", OAUTH_AUTHORIZATION_PARAMETERS: query };
    expect(() => loadConfig(env)).toThrow(/OAUTH_AUTHORIZATION_PARAMETERS: got .* without parameters of the flow/);
  },
);

describe("Slack", () => {
  // https://docs.slack.dev/reference/methods/oauth.v2.access
  const TEAM = { ok: true, app_id: "A1", team: { id: "T1", name: "t" }, enterprise: null };
  const USER = { id: "U1234", scope: "chat:write", access_token: "xoxp-1234", token_type: "user" };
  const BOT = { access_token: "xoxb-17", token_type: "bot", scope: "commands", bot_user_id: "U0KR" };
  const env = (origin: string) => ({
    OAUTH_AUTHORIZATION_URL: `${origin}/oauth/v2/authorize`,
    OAUTH_TOKEN_URL: `${origin}/api/oauth.v2.access`,
    OAUTH_AUTHORIZATION_PARAMETERS: "user_scope=chat:write",
  });

  it.each([
    ["the user's nested token is kept where no bot was asked for", { ...TEAM, authed_user: USER }],
    ["the bot's token is kept with the id of its user", { ...TEAM, ...BOT, authed_user: { id: "U1234" } }],
  ])("%s", (_title, answer) =>
    withPlatform(
      () => answer,
      env,
      async ({ asked, back, receiver }) => {
        expect(asked.get("user_scope")).toBe("chat:write");
        expect(await back()).toEqual({
          status: 200,
          body: { status: "success", data: { user_id: "U1234" } },
        });
        expect(await receiver.count("oncehook_user_tokens", "user_id = 'U1234'")).toBe(1);
      },
    ),
  );
});

describe("Microsoft for every tenant", () => {
  const keys = generateKeyPair("RS256");
  const TENANT = "9188040d-6c67-4c5b-b112-36a304b66dad";
  // https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc and .../access-tokens#validate-the-issuer
  const discovery = (origin: string) => ({
    issuer: `${origin}/{tenantid}/v2.0`,
    authorization_endpoint: `${origin}/common/oauth2/v2.0/authorize`,
    token_endpoint: `${origin}/common/oauth2/v2.0/token`,
    token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt", "client_secret_basic"],
  });
  const signIn = async (
    claims: (origin: string) => object,
    use: (result: { status: number; body: unknown }) => void,
  ) => {
    let nonce = "";
    await withPlatform(
      async (path, origin) => {
        if (path.includes(".well-known")) return discovery(origin);
        const id_token = await new SignJWT({ aud: "us", sub: "AAAA", nonce, ...claims(origin) })
          .setProtectedHeader({ alg: "RS256" })
          .setIssuedAt()
          .setExpirationTime("1m")
          .sign((await keys).privateKey);
        return { access_token: "a", token_type: "Bearer", id_token };
      },
      (origin) => ({ OAUTH_ISSUER: `${origin}/common/v2.0` }),
      async ({ asked, back }) => {
        nonce = asked.get("nonce") ?? "";
        use(await back());
      },
    );
  };

  it("a user of any tenant is signed in, by the issuer of that tenant", () =>
    signIn(
      (origin) => ({ iss: `${origin}/${TENANT}/v2.0`, tid: TENANT }),
      (result) => expect(result).toEqual({ status: 200, body: { status: "success", data: { user_id: "AAAA" } } }),
    ));

  it.each([
    ["another tenant than its tid", { tid: "00000000-6c67-4c5b-b112-36a304b66dad" }],
    ["no tid", {}],
    ["another host", { iss: `https://evil.example/${TENANT}/v2.0`, tid: TENANT }],
    ["the template itself", { iss: "template", tid: "{tenantid}" }],
  ])("an ID token with an issuer of %s is refused", (_title, claims) =>
    signIn(
      (origin) => ({
        iss: `${origin}/${TENANT}/v2.0`,
        ...claims,
        ...("iss" in claims && claims.iss === "template" ? { iss: `${origin}/{tenantid}/v2.0` } : {}),
      }),
      (result) => expect(result.status).toBe(500),
    ),
  );
});
