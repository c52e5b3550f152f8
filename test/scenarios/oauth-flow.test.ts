import { describe, expect, it } from "vitest";
import { describeFullOnPostgres } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { withFlow } from "../support/oauth-flow.ts";
import { startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { UserAgent } from "../support/user-agent.ts";
import { wholeCallbacks } from "../support/whole-callbacks.ts";

const json = { headers: { accept: "application/json" } };

describeFullOnPostgres("an OAuth flow with a real authorization server on %s", (dialect) => {
  it("a flow signs a user in, keeps the tokens encrypted, and leaves no code in the browser's address", () =>
    withFlow(dialect, async ({ arrive, receiver, platform, target }) => {
      const { agent, back } = await arrive("ada");
      const end = await agent.walk(back, () => false);
      expect(end).toMatchObject({ page: expect.stringContaining("You are signed in") });
      expect(agent.visited.at(-1)).toMatch(/\/api\/platform\/oauth-done$/);
      expect(await receiver.count("users", "user_id = 'ada'")).toBe(1);
      const [row] = await rowsOf(target, "SELECT * FROM oncehook_user_tokens");
      expect(row).toMatchObject({ user_id: "ada", error: null });
      expect(Buffer.from(row?.encrypted_tokens as Uint8Array).includes("token")).toBe(false);
      expect(platform.grants).toEqual({ authorization_code: 1, refresh_token: 0, refused: 0 });
      const { searchParams } = new URL(back);
      const everything = JSON.stringify([
        receiver.lines,
        await wholeCallbacks(receiver),
        (await receiver.admin("/metrics")).body,
        await rowsOf(target, "SELECT * FROM oncehook_records"),
      ]);
      for (const name of ["code", "state"]) expect(everything).not.toContain(searchParams.get(name));
    }));

  it("a flow exchanges the code once although the redirect comes five times at once to two processes", () =>
    withFlow(dialect, async ({ arrive, receiver, platform, target, env }) => {
      const { agent, back } = await arrive();
      const second = await startReceiver(target, { env: { ...env, PORT: "0" } });
      const other = new URL(back);
      other.port = new URL(second.publicOrigin).port;
      const addresses = [back, other.href, back, other.href, back];
      agent.share(new URL(back).host, other.host);
      const answers = await Promise.all(addresses.map((url) => agent.request(url, json)));
      const bodies = await Promise.all(answers.map((answer) => answer.json()));
      expect(bodies).toEqual(Array(5).fill({ status: "success", data: { user_id: "ada" } }));
      expect(platform.grants.authorization_code).toBe(1);
      expect(await receiver.count("oncehook_records")).toBe(1);
      await second.stop();
    }));

  it("a redirect ends in a page when the platform's token endpoint fails, and a reload finishes it", () =>
    withFlow(dialect, async ({ arrive, platform, receiver }) => {
      const { agent, back } = await arrive();
      platform.before = () => 503;
      const failed = await agent.request(back);
      expect(failed.status).toBe(500);
      expect(await failed.text()).toContain("Load this page again");
      platform.before = () => undefined;
      expect((await agent.request(back)).status).toBe(303);
      expect(await receiver.count("users")).toBe(1);
      expect(await receiver.count("oncehook_failures")).toBe(0);
    }));

  it("a flow outlives a platform that is slower than the handler's time limit: the code is not spent in vain", () =>
    withFlow(
      dialect,
      async ({ arrive, platform, receiver }) => {
        const { agent, back } = await arrive();
        const slow = Promise.withResolvers<undefined>();
        platform.before = () => slow.promise;
        expect((await agent.request(back)).status).toBe(500);
        slow.resolve(undefined);
        await until(async () => (await receiver.count("oncehook_preparations", "encrypted_result IS NOT NULL")) === 1);
        expect((await agent.request(back)).status).toBe(303);
        expect(platform.grants).toEqual({ authorization_code: 1, refresh_token: 0, refused: 0 });
      },
      { env: { HANDLER_TIMEOUT_MS: "300" } },
    ));

  it("a flow completes without the browser, and a user that left is signed in", () =>
    withFlow(dialect, async ({ arrive, platform, receiver }) => {
      const { agent, back } = await arrive();
      const asked = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<undefined>();
      platform.before = () => {
        asked.resolve();
        return gate.promise;
      };
      const controller = new AbortController();
      const leaving = agent.request(back, { signal: controller.signal }).catch(() => "left");
      await asked.promise;
      controller.abort();
      expect(await leaving).toBe("left");
      gate.resolve(undefined);
      await until(async () => (await receiver.count("users")) === 1);
      platform.before = () => undefined;
      expect(await (await agent.request(back, json)).json()).toEqual({
        status: "success",
        data: { user_id: "ada" },
      });
      expect(platform.grants.authorization_code).toBe(1);
    }));

  it("the redirect takes a form post from the platform's page", () =>
    withFlow(
      dialect,
      async ({ startUrl, redirectUri, receiver }) => {
        const agent = new UserAgent();
        const posted = await agent.authorizeByPost(startUrl, redirectUri);
        expect(posted.status).toBe(303);
        expect(await receiver.count("users")).toBe(1);
      },
      { env: { OAUTH_RESPONSE_MODE: "form_post" } },
    ));
});

describe("the start of an OAuth flow", () => {
  it("the start asks with PKCE, a nonce and an encrypted state, and binds them to the browser", () =>
    withFlow("sqlite", async ({ startUrl, platform, redirectUri, receiver }) => {
      const agent = new UserAgent();
      const response = await agent.request(startUrl);
      expect(response.status).toBe(303);
      const location = new URL(response.headers.get("location") ?? "");
      expect(location.origin).toBe(platform.issuer);
      expect(Object.fromEntries(location.searchParams)).toEqual({
        response_type: "code",
        client_id: "oncehook",
        redirect_uri: redirectUri,
        scope: "openid",
        state: expect.stringMatching(/^[\w-]{95}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: "S256",
      });
      expect(response.headers.get("set-cookie")).toMatch(
        /^__Host-oncehook-flow-[\da-f]{20}=[\w-]{43}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
      );
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      const state = location.searchParams.get("state") ?? "";
      expect(JSON.stringify(receiver.lines)).not.toContain(state);
      const again = new URL((await agent.request(startUrl)).headers.get("location") ?? "");
      for (const name of ["state", "nonce", "code_challenge"])
        expect(again.searchParams.get(name)).not.toBe(location.searchParams.get(name));
    }));

  it("the start takes the redirect address from the configuration, whatever Host says", () =>
    withFlow("sqlite", async ({ startUrl, redirectUri }) => {
      const response = await new UserAgent().request(startUrl, {
        headers: { "x-forwarded-host": "evil.example", forwarded: "host=evil.example" },
      });
      const location = new URL(response.headers.get("location") ?? "");
      expect(location.searchParams.get("redirect_uri")).toBe(redirectUri);
    }));

  it("the start says that the platform cannot be asked, to browsers and to others", () =>
    withFlow(
      "sqlite",
      async ({ startUrl }) => {
        const page = await new UserAgent().request(startUrl);
        expect([page.status, page.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
        const answer = await new UserAgent().request(startUrl, json);
        expect([answer.status, await answer.json()]).toEqual([503, { error: "temporarily unavailable" }]);
      },
      { env: { OAUTH_ISSUER: "http://127.0.0.1:1" } },
    ));

  it("the start of a flow returns 404 where the platform has no authorization address", () =>
    withFlow(
      "sqlite",
      async ({ startUrl }) => {
        expect((await new UserAgent().request(startUrl)).status).toBe(404);
      },
      { env: { OAUTH_ISSUER: "", OAUTH_TOKEN_URL: "http://127.0.0.1:1/token" } },
    ));

  it("the receiver warns at the start where no handler receives its users", () =>
    withFlow(
      "sqlite",
      async ({ receiver }) => {
        const warning = expect.stringContaining("no handler receives user_authorized");
        expect(receiver.lines).toContainEqual(expect.objectContaining({ level: 40, msg: warning }));
      },
      { env: { HANDLERS: "payment_notify" } },
    ));

  it("a flow works in development with nothing set, against the sandbox platform", () =>
    withFlow(
      "sqlite",
      async ({ startUrl, receiver }) => {
        const agent = new UserAgent();
        await agent.walk(startUrl, () => false);
        expect(agent.visited.at(-1)).toMatch(/oauth-done$/);
        expect(await receiver.count("users", "user_id = 'sandbox-user'")).toBe(1);
      },
      { env: { OAUTH_ISSUER: "", OAUTH_CLIENT_ID: "", OAUTH_CLIENT_SECRET: "" } },
    ));
});

describe("the redirect of an OAuth flow", () => {
  it("a redirect in another browser is refused, which does not spend the code", () =>
    withFlow("sqlite", async ({ arrive, platform }) => {
      const { agent, back } = await arrive();
      const stranger = await new UserAgent().request(back);
      expect(stranger.status).toBe(401);
      expect(await stranger.text()).toContain("started in another browser");
      expect(platform.grants.authorization_code).toBe(0);
      expect((await agent.request(back)).status).toBe(303);
    }));

  it.each([
    ["a prefetch", { method: "GET", headers: { "sec-purpose": "prefetch;prerender" } }, 503],
    ["an older prefetch", { method: "GET", headers: { purpose: "prefetch" } }, 503],
    ["a preview", { method: "GET", headers: { "x-purpose": "preview" } }, 503],
    ["a look at its headers", { method: "HEAD" }, 405],
    ["another method", { method: "PUT" }, 405],
  ])("a flow never spends the code on %s", (_title, init, status) =>
    withFlow("sqlite", async ({ arrive, platform }) => {
      const { agent, back } = await arrive();
      expect((await agent.request(back, init)).status).toBe(status);
      expect(platform.grants.authorization_code).toBe(0);
      expect((await agent.request(back)).status).toBe(303);
    }),
  );

  it.each([
    ["another issuer", (url: URL) => url.searchParams.set("iss", "https://evil.example")],
    ["the issuer with a slash more", (url: URL) => url.searchParams.set("iss", `${url.searchParams.get("iss")}/`)],
    ["no issuer, which the platform promises", (url: URL) => url.searchParams.delete("iss")],
  ])("a redirect with %s is refused before the code is sent anywhere", (_title, change) =>
    withFlow("sqlite", async ({ arrive, platform }) => {
      const { agent, back } = await arrive();
      const url = new URL(back);
      change(url);
      const answer = await agent.request(url.href, json);
      expect([answer.status, await answer.json()]).toEqual([401, { error: "invalid issuer" }]);
      expect(platform.grants).toEqual({ authorization_code: 0, refresh_token: 0, refused: 0 });
    }),
  );

  it("a flow that the platform started is refused with another issuer, which spends neither code nor state", () =>
    withFlow("sqlite", async ({ receiver, platform, redirectUri }) => {
      const state = "a-state-that-the-platform-made-up";
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ state }),
      };
      expect((await receiver.admin("/api/v1/oauth/states", init)).status).toBe(201);
      const from = (iss: string) =>
        fetch(`${redirectUri}?${new URLSearchParams({ code: "c", state, iss })}`, { method: "POST" });
      const foreign = await from("https://evil.example");
      expect([foreign.status, await foreign.json()]).toEqual([401, { error: "invalid issuer" }]);
      expect(platform.grants).toEqual({ authorization_code: 0, refresh_token: 0, refused: 0 });
      expect((await from(platform.issuer)).status).toBe(400);
      expect(platform.grants.refused).toBe(1);
    }));

  it("a flow that the platform started may omit its issuer, though the platform sends it in others", () =>
    withFlow("sqlite", async ({ receiver, platform, redirectUri }) => {
      const state = "a-state-that-the-platform-made-up";
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ state });
      await receiver.admin("/api/v1/oauth/states", { method: "POST", headers, body });
      const answer = await fetch(`${redirectUri}?${new URLSearchParams({ code: "made-up", state })}`);
      // It went to the platform, which refuses its code.
      expect([answer.status, platform.grants.refused]).toEqual([400, 1]);
    }));

  it("a redirect with an error ends the flow, logs the platform's text and shows none of it", () =>
    withFlow("sqlite", async ({ arrive, platform, receiver }) => {
      const { agent, back } = await arrive();
      const refusal = new URL(back);
      refusal.searchParams.delete("code");
      refusal.searchParams.set("error", "access_denied");
      refusal.searchParams.set("error_description", "<script>alert(1)</script>");
      refusal.searchParams.set("error_uri", "https://evil.example");
      const page = await agent.request(refusal.href);
      expect(page.status).toBe(400);
      expect(await page.text()).not.toMatch(/script>alert|evil|access_denied/);
      expect(receiver.lines.at(-1)).toMatchObject({ error: expect.stringContaining('"access_denied"') });
      expect((await agent.request(back)).status).toBe(401);
      expect(platform.grants.authorization_code).toBe(0);
    }));

  it("a redirect with a code that the platform refuses ends the flow", () =>
    withFlow("sqlite", async ({ arrive, platform }) => {
      const { agent, back } = await arrive();
      const forged = new URL(back);
      forged.searchParams.set("code", "made-up");
      expect((await agent.request(forged.href)).status).toBe(400);
      expect(platform.grants.refused).toBe(1);
      expect((await agent.request(back)).status).toBe(401);
    }));

  it("a redirect with the code of another user's flow is refused", () =>
    withFlow("sqlite", async ({ arrive, platform, receiver }) => {
      const [victim, attacker] = [await arrive("ada"), await arrive("mallory")];
      const injected = new URL(attacker.back);
      injected.searchParams.set("code", new URL(victim.back).searchParams.get("code") ?? "");
      expect((await attacker.agent.request(injected.href)).status).toBe(400);
      expect(platform.grants).toMatchObject({ authorization_code: 0, refused: 1 });
      expect(await receiver.count("users")).toBe(0);
    }));

  it("the redirect shows browsers a page that nothing can be put into, and no frame can hold", () =>
    withFlow("sqlite", async ({ redirectUri }) => {
      const page = await new UserAgent().request(`${redirectUri}?code=%22%3E%3Cimg%20src=x%3E&state=unknown`);
      expect(page.status).toBe(401);
      expect(await page.text()).not.toContain("img");
      expect(Object.fromEntries(page.headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "content-security-policy": expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
        ),
      });
    }));

  it("the redirect goes to OAUTH_SUCCESS_URL and to no address that a request names", () =>
    withFlow(
      "sqlite",
      async ({ arrive }) => {
        const { agent, back } = await arrive();
        const answer = await agent.request(`${back}&redirect_uri=https://evil.example&return_to=//evil.example`);
        expect([answer.status, answer.headers.get("location")]).toEqual([303, "https://shop.example/welcome"]);
      },
      { env: { OAUTH_SUCCESS_URL: "https://shop.example/welcome" } },
    ));

  it("a flow expires ten minutes after its start", () => {
    const time = { offset: 0 };
    return withFlow(
      "sqlite",
      async ({ arrive, platform }) => {
        const { agent, back } = await arrive();
        time.offset = 601_000;
        expect((await agent.request(back)).status).toBe(401);
        expect(platform.grants.authorization_code).toBe(0);
      },
      { clock: { now: () => new Date(Date.now() + time.offset) } },
    );
  });

  it("the receiver takes tokens from nowhere but the token endpoint", () =>
    withFlow("sqlite", async ({ arrive, platform }) => {
      const { agent, back } = await arrive();
      const { searchParams } = new URL(back);
      const implicit = new URL(back);
      implicit.search = new URLSearchParams({
        access_token: "stolen",
        id_token: "forged",
        state: searchParams.get("state") ?? "",
        iss: platform.issuer,
      }).toString();
      const answer = await agent.request(implicit.href, json);
      expect([answer.status, await answer.json()]).toEqual([400, { error: "code: missing" }]);
    }));
});
