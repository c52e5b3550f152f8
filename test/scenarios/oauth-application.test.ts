import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, type JsonObject, verifySignIn } from "../../src/index.ts";
import { withFlow } from "../support/oauth-flow.ts";
import { event, withReceiver } from "../support/receiver.ts";
import { UserAgent } from "../support/user-agent.ts";
import { wholeCallbacks } from "../support/whole-callbacks.ts";

const JSON_ONLY = { headers: { accept: "application/json" } };
const SUCCESS = {
  OAUTH_SUCCESS_URL: "https://shop.example/welcome?from=us",
  OAUTH_SUCCESS_SECRET: "Zt2mWq8xKc4vRb7nYd1sHf6jLp3gTu9e",
};
const BESIDE = {
  realmId: "9130347957983546",
  user: '{"name":{"firstName":"Ada"},"email":"ada@example.com"}',
};

/** A handler of the application, and what it got. */
function recording() {
  const got: JsonObject[] = [];
  const handler = defineHandler({
    type: "user_authorized",
    data: z.looseObject({ code: z.string() }),
    handle({ event }) {
      got.push({ parameters: {}, ...event.data } as JsonObject);
      return { user_id: "ada" };
    },
  });
  return { got, parts: { handlers: [handler], env: { HANDLERS: "none" } } };
}

describe("two tabs of one browser", () => {
  it.each([2, 5])("%i tabs that start at once, before any has a cookie, all end their flows", (count) =>
    withFlow("sqlite", async ({ startUrl, redirectUri, receiver, platform }) => {
      const agent = new UserAgent();
      const starts = await Promise.all(Array.from({ length: count }, () => agent.request(startUrl)));
      const ends = [];
      for (const started of starts)
        ends.push(await agent.authorize(started.headers.get("location") ?? "", redirectUri));
      for (const back of ends.reverse()) expect((await agent.request(back)).status).toBe(303);
      expect(platform.grants.authorization_code).toBe(count);
      expect(await receiver.count("oncehook_records")).toBe(count);
    }),
  );
});

describe("what stands beside the code", () => {
  it("parameters of the redirect reach the handler, without tokens and without those of the flow", () => {
    const { got, parts } = recording();
    return withFlow(
      "sqlite",
      async ({ arrive, receiver }) => {
        const { agent, back } = await arrive();
        const query = new URLSearchParams({ ...BESIDE, id_token: "forged", access_token: "stolen" });
        expect((await agent.request(`${back}&${query}&realmId=2&__proto__=x`)).status).toBe(303);
        expect(got.map(({ parameters }) => parameters)).toEqual([BESIDE]);
        const logged = JSON.stringify([receiver.lines, await wholeCallbacks(receiver)]);
        expect(logged).toContain("realmId=2");
        expect(logged).not.toMatch(/firstName|ada(?:@|%40)example/);
      },
      parts,
    );
  });

  it("a form post brings its parameters to the handler, and the log shows no user", () => {
    const { got, parts } = recording();
    return withFlow(
      "sqlite",
      async ({ arrive, redirectUri, receiver }) => {
        const { agent, back } = await arrive();
        const body = new URLSearchParams({ ...Object.fromEntries(new URL(back).searchParams), ...BESIDE });
        expect((await agent.request(redirectUri, { method: "POST", body, ...JSON_ONLY })).status).toBe(200);
        expect(got.map(({ parameters }) => parameters)).toEqual([BESIDE]);
        const logged = JSON.stringify([receiver.lines, await wholeCallbacks(receiver)]);
        expect(logged).not.toMatch(/firstName|ada(?:@|%40)example/);
      },
      parts,
    );
  });

  it("a signed redirect brings the parameters of its body only", () => {
    const { got, parts } = recording();
    return withReceiver(
      "sqlite",
      async (receiver) => {
        const sent = { code: "c1", state: "any", realmId: "1" };
        const path = "/api/platform/oauth-callback?realmId=2&shop=evil";
        expect((await receiver.send(sent, { path })).status).toBe(200);
        expect(got.map(({ parameters }) => parameters)).toEqual([{ realmId: "1" }]);
      },
      parts,
    );
  });

  it.each([
    ["16 parameters", Array.from({ length: 20 }, (_, index) => [`p${index}`, "x"]), 16],
    [
      "4 KiB",
      [
        ["a", "x".repeat(4_000)],
        ["b", "y".repeat(200)],
      ],
      1,
    ],
  ])("the handler gets at most %s", (_title, pairs, count) => {
    const { got, parts } = recording();
    return withFlow(
      "sqlite",
      async ({ redirectUri, arrive }) => {
        const { agent, back } = await arrive();
        const body = new URLSearchParams([...new URL(back).searchParams, ...(pairs as [string, string][])]);
        expect((await agent.request(redirectUri, { method: "POST", body })).status).toBe(303);
        const [{ parameters = {} } = {}] = got;
        // The issuer is the flow's, and no parameter beside it.
        expect(Object.keys(parameters as JsonObject)).toHaveLength(count);
      },
      parts,
    );
  });

  it("a handler that needs a user's tokens gets the parameters with them", () => {
    const parameters: unknown[] = [];
    const sync = defineHandler({
      type: "sync",
      data: z.object({}),
      async prepare({ tokens }) {
        parameters.push((await tokens.for("ada")).parameters);
        return {};
      },
      handle: () => ({}),
    });
    return withFlow(
      "sqlite",
      async ({ arrive, receiver }) => {
        const { agent, back } = await arrive();
        expect((await agent.request(`${back}&realmId=42`)).status).toBe(303);
        expect((await receiver.send(event("sync", {}))).status).toBe(200);
        expect(parameters).toEqual([{ realmId: "42" }]);
      },
      { handlers: [sync], env: { HANDLERS: "user_authorized" } },
    );
  });
});

describe("who signed in", () => {
  it("the application learns the user and gets its own value back, signed for a minute", () =>
    withFlow(
      "sqlite",
      async ({ startUrl, redirectUri, receiver }) => {
        const agent = new UserAgent();
        const back = await agent.authorize(`${startUrl}?context=cart%2017`, redirectUri);
        const visit = async () => {
          const location = (await agent.request(back)).headers.get("location") ?? "";
          expect(location).toMatch(/^https:\/\/shop\.example\/welcome\?from=us&sign_in=[\w-]+\.[\w-]+\.[\w-]+$/);
          return new URL(location).searchParams.get("sign_in") ?? "";
        };
        const token = await visit();
        const verify = (given: string, secret = SUCCESS.OAUTH_SUCCESS_SECRET, url = SUCCESS.OAUTH_SUCCESS_URL) =>
          verifySignIn(given, secret, url);
        const signedIn = await verify(token);
        expect(signedIn).toEqual({ id: expect.stringMatching(/^state:/), userId: "ada", context: "cart 17" });
        // A reload is the same sign-in: an application that takes an id once takes it once.
        expect((await verify(await visit())).id).toBe(signedIn.id);
        const [head, claims = "", mac] = token.split(".");
        const { exp, iat } = JSON.parse(Buffer.from(claims, "base64url").toString());
        expect(exp - iat).toBe(60);
        const other = Buffer.from(JSON.stringify({ sub: "mallory", exp })).toString("base64url");
        await expect(verify([head, other, mac].join("."))).rejects.toThrow(/signature/);
        await expect(verify(token, "x".repeat(32))).rejects.toThrow(/signature/);
        await expect(verify(token, undefined, "https://evil.example/")).rejects.toThrow(/aud/);
        const text = JSON.stringify([receiver.lines, await wholeCallbacks(receiver)]);
        expect(text).not.toContain(mac);
      },
      { env: SUCCESS },
    ));

  it("a signed result is refused after a minute", () => {
    const clock = { now: () => new Date(Date.now() - 61_000) };
    return withFlow(
      "sqlite",
      async ({ arrive }) => {
        const { agent, back } = await arrive();
        const location = new URL((await agent.request(back)).headers.get("location") ?? "");
        const token = location.searchParams.get("sign_in") ?? "";
        await expect(verifySignIn(token, SUCCESS.OAUTH_SUCCESS_SECRET, SUCCESS.OAUTH_SUCCESS_URL)).rejects.toThrow(
          /exp/,
        );
      },
      { env: SUCCESS, clock },
    );
  });

  it("a flow that the platform started gives no signed result, since no browser is bound to it", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const body = JSON.stringify({ state: "state-of-at-least-128-bits" });
        const headers = { "content-type": "application/json" };
        await receiver.admin("/api/v1/oauth/states", { method: "POST", headers, body });
        const url = `${receiver.publicOrigin}/api/platform/oauth-callback?code=c1&state=state-of-at-least-128-bits`;
        const response = await new UserAgent().request(url);
        expect(response.headers.get("location")).toBe(SUCCESS.OAUTH_SUCCESS_URL);
      },
      { env: SUCCESS },
    ));

  it("the handler gets the value that the application gave at the start", () => {
    const { got, parts } = recording();
    return withFlow(
      "sqlite",
      async ({ startUrl, redirectUri }) => {
        const agent = new UserAgent();
        const back = await agent.authorize(`${startUrl}?context=cart%2017`, redirectUri);
        expect((await agent.request(`${back}&context=evil`)).status).toBe(303);
        expect(got).toMatchObject([{ context: "cart 17", parameters: { context: "evil" } }]);
      },
      parts,
    );
  });
});

describe("an installation that began at the platform", () => {
  it("a code without a state is not exchanged: the browser starts a flow, and comes back with a state", () =>
    withFlow("sqlite", async ({ redirectUri, receiver, platform }) => {
      const agent = new UserAgent();
      const installed = `${redirectUri}?code=of-the-platform&installation_id=7&setup_action=install`;
      const back = await agent
        .authorize(installed, `${redirectUri}?code=`)
        .then((url) => (url === installed ? Promise.reject(new Error("no flow")) : url));
      expect(new URL(back).searchParams.get("state")).toMatch(/^[\w-]{95}$/);
      expect(platform.grants).toMatchObject({ authorization_code: 0, refused: 0 });
      expect((await agent.request(back)).status).toBe(303);
      expect(platform.grants).toMatchObject({ authorization_code: 1, refused: 0 });
      expect(await receiver.count("users", "user_id = 'ada'")).toBe(1);
    }));

  it.each([
    ["a browser that has begun a flow, which would go in a circle", true, {}],
    ["a caller of the API", false, JSON_ONLY],
  ])("a code without a state is refused for %s", (_title, started, init) =>
    withFlow("sqlite", async ({ startUrl, redirectUri, platform }) => {
      const agent = new UserAgent();
      if (started) await agent.request(startUrl);
      expect((await agent.request(`${redirectUri}?code=c1`, init)).status).toBe(401);
      expect(platform.grants).toMatchObject({ authorization_code: 0, refused: 0 });
    }),
  );
});
