import type { IncomingMessage, ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import type { CodeGrant } from "../../src/handlers/index.ts";
import { createCodeExchange, createPlatform, type PlatformSettings } from "../../src/oauth/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withHttpServer } from "../support/http-server.ts";

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

const json =
  (body: unknown, status = 200, type = "application/json"): Respond =>
  (_request, response) => {
    response.writeHead(status, { "content-type": type });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
const PLAIN = { access_token: "the-access-token", token_type: "bearer", scope: "read" };
let asked: { path: string; authorization: string | undefined }[];
let log: ReturnType<typeof recordedLog>;

beforeEach(() => {
  asked = [];
  log = recordedLog();
});

/** A plain OAuth 2 platform: its token endpoint answers with `tokens`, and then `userInfo` is asked, in turn. */
function exchangeAt(
  tokens: unknown,
  userInfo: readonly Respond[],
  {
    idField,
    grant = {},
    timeLimitMs = 5_000,
  }: { idField?: string; grant?: Partial<CodeGrant>; timeLimitMs?: number } = {},
) {
  const left = [...userInfo];
  const respond: Respond = (request, response) => {
    asked.push({ path: request.url ?? "", authorization: request.headers.authorization });
    if (request.url === "/token") return json(tokens)(request, response);
    return (left.shift() ?? json({}, 500))(request, response);
  };
  return withHttpServer(respond, (origin) => {
    const settings: PlatformSettings = {
      issuer: null,
      authorizationUrl: null,
      tokenUrl: `${origin}/token`,
      revocationUrl: null,
      clientId: "us",
      clientSecret: "secret",
      scope: null,
      userInfo: { url: `${origin}/user`, ...(idField === undefined ? {} : { idField }) },
    };
    const platform = createPlatform(settings, false);
    const exchange = createCodeExchange(() => platform, { redirectUri: undefined, timeLimitMs, log });
    return exchange({ code: "the-code", ...grant });
  });
}

const paths = () => asked.map(({ path }) => path);

describe("a token answer that names no user", () => {
  it.each<[string, unknown, string | undefined, string]>([
    ["sub", { sub: "ada", id: 7, login: "al" }, undefined, "ada"],
    ["id, an integer", '{"id": 583231, "login": "octocat"}', undefined, "583231"],
    ["id, of more digits than a double holds", '{"id": 17841405793187218}', undefined, "17841405793187218"],
    ["user_id", { id: null, user_id: "U1" }, undefined, "U1"],
    ["login, when there is nothing else", { login: "octocat" }, undefined, "octocat"],
    ["a field of its own, in a path", { id: "not-this", data: { id: "2244994945" } }, "data.id", "2244994945"],
  ])("the userinfo endpoint, asked with the access token, names the user: %s", async (_, answer, idField, user) => {
    const tokens = await exchangeAt(PLAIN, [json(answer)], idField === undefined ? {} : { idField });
    expect(tokens).toMatchObject({ access_token: "the-access-token", user_id: user });
    expect(asked).toEqual([
      { path: "/token", authorization: expect.stringMatching(/^Basic /) },
      { path: "/user", authorization: "Bearer the-access-token" },
    ]);
  });

  it("an unavailable userinfo endpoint is asked up to three times", { tags: "full" }, async () => {
    const away = json({}, 503);
    expect(await exchangeAt(PLAIN, [away, json({}, 429), json({ id: 1 })])).toMatchObject({ user_id: "1" });
    expect(paths()).toEqual(["/token", "/user", "/user", "/user"]);
  });

  it.each<[string, readonly Respond[], number]>([
    ["refuses the token", [json({}, 403)], 1],
    ["challenges", [(_, response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end()], 1],
    ["redirects", [(_, response) => response.writeHead(302, { location: "/elsewhere" }).end()], 1],
    ["names no user", [json({ name: "Ada" })], 1],
    ["names a user by a path alone", [json({ id: { deep: 1 } })], 1],
    ["names a user that is no key", [json({ id: "x".repeat(256), login: "a\u0000b" })], 1],
    ["names user 0", [json({ id: 0 })], 1],
    ["answers with a page", [json("<html>the-page</html>", 200, "text/html")], 1],
    ["answers without end", [(_, response) => void response.writeHead(200).end(" ".repeat(1_100_000))], 3],
    ["breaks the connection", [(request) => request.socket.destroy()], 3],
  ])("a flow keeps its tokens where the userinfo endpoint %s", async (_, responses, times) => {
    const tokens = await exchangeAt(PLAIN, Array(3).fill(responses[0]));
    expect(tokens).toEqual(PLAIN);
    expect(paths()).toEqual(["/token", ...Array(times).fill("/user")]);
    expect(JSON.stringify(log.lines)).toMatch(/userinfo endpoint/);
    expect(JSON.stringify(log.lines)).not.toMatch(/the-access-token|the-page/);
  });

  it("the exchange keeps its tokens where the userinfo endpoint is silent beyond the time limit of the exchange", async () => {
    expect(await exchangeAt(PLAIN, [() => {}], { timeLimitMs: 300 })).toEqual(PLAIN);
  });
});

describe("the userinfo endpoint", () => {
  it.each<[string, object, Partial<CodeGrant>]>([
    ["the token answer names the user", { ...PLAIN, user_id: 42 }, {}],
    ["the event names the user", PLAIN, { isUserKnown: true }],
  ])("the userinfo endpoint is not asked where %s", async (_, tokens, grant) => {
    expect(await exchangeAt(tokens, [], { grant })).toMatchObject({ access_token: "the-access-token" });
    expect(paths()).toEqual(["/token"]);
  });
});

describe("a token answer that departs from RFC 6749", () => {
  it.each<[string, unknown, object]>([
    ["without token_type", { access_token: "a" }, { access_token: "a", token_type: "bearer" }],
    ["with scopes as a list", { ...PLAIN, scope: ["read", "write"] }, { scope: "read write" }],
    ["with empty fields", { ...PLAIN, refresh_token: null, expires_in: null, scope: "" }, { token_type: "bearer" }],
    ["with a token_type of its own", { ...PLAIN, token_type: "Bot" }, { token_type: "bot" }],
    ["with lifetimes as texts", { ...PLAIN, expires_in: "3600" }, { expires_in: 3600 }],
    ["with a negative lifetime", { ...PLAIN, expires_in: -1 }, { token_type: "bearer" }],
    ["with a lifetime that is no number", { ...PLAIN, expires_in: "never" }, { token_type: "bearer" }],
    ["with an endless lifetime", '{"access_token":"a","expires_in":1e999}', { access_token: "a" }],
  ])("a token answer that departs from RFC 6749 loses no spent code: %s", async (_, tokens, kept) => {
    expect(await exchangeAt(tokens, [json({ id: 7 })])).toMatchObject({ ...kept, user_id: "7" });
  });
});
