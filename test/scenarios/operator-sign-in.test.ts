import { describe, expect, it } from "vitest";
import { describeFullOnPostgres } from "../support/databases.ts";
import { type OperatorsTest, withOperators } from "../support/operators.ts";
import { OwnPage, sessionIdIn } from "../support/own-page.ts";
import { startReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";
import { UserAgent } from "../support/user-agent.ts";

const SESSION = "/api/v1/session";

const STRANGER = "a browser returned from the provider without a flow of this receiver";

/** A browser that brings something in the place of a flow, whatever the port. */
function withFlowCookie(value: string): Pick<UserAgent, "request"> {
  const agent = new UserAgent();
  return {
    request: (url) => agent.request(url, { headers: { cookie: `oncehook-flow-${new URL(url).port}=${value}` } }),
  };
}

async function audit({ receiver }: OperatorsTest): Promise<Record<string, unknown>[]> {
  return (await receiver.admin("/api/v1/audit")).body.items as Record<string, unknown>[];
}

describeFullOnPostgres("signing in by OpenID Connect with a real provider on %s", (dialect) => {
  it("an operator signs in, and every action names the mail address", () =>
    withOperators(dialect, async (test) => {
      const { base, receiver, platform } = test;
      const { agent, answer } = await test.signIn("ada");
      const html = await answer.text();
      expect([answer.status, html]).toEqual([200, expect.stringContaining('content="0;url=/"')]);
      const page = new OwnPage(base, agent);
      expect((await page.ask("GET", SESSION)).body).toMatchObject({
        actor: "ada@example.com",
        role: "operator",
      });
      expect((await page.ask("DELETE", "/api/v1/failures/platform/none")).status).toBe(404);
      const common = { actor: "ada@example.com", role: "operator" };
      expect(await audit(test)).toMatchObject([
        { ...common, action: "failure.discard", outcome: "refused" },
        { ...common, action: "session.begin", detail: { by: "oidc" }, outcome: "done" },
      ]);
      expect(platform.grants).toEqual({ authorization_code: 1, refresh_token: 0, refused: 0 });
      expect(await receiver.count("oncehook_redirect_states")).toBe(0);
    }));
});

describe("signing in by OpenID Connect", () => {
  it("sign-in by OpenID Connect is offered under the provider's name where it is configured", () =>
    withOperators("sqlite", async ({ receiver, platform }) => {
      const { body } = await receiver.admin("/api/v1/sign-in", { headers: { authorization: "" } });
      expect(body).toEqual({
        methods: ["token", "oidc"],
        oidc_label: new URL(platform.issuer).host,
        environment: "test",
      });
    }));

  it("a sign-in ends the browser's earlier session, whose cookie does not come with the provider's redirect", () =>
    withOperators("sqlite", async ({ base, receiver, signIn }) => {
      const { agent, answer } = await signIn("ada");
      const earlier = sessionIdIn(answer);
      const begun = await agent.request(`${base}/sign-in/oidc`);
      const [flow = ""] = begun.headers.getSetCookie()[0]?.split(";") ?? [];
      const redirectUri = `${base}/sign-in/oidc/callback`;
      const back = await agent.authorize(begun.headers.get("location") ?? "", redirectUri, "ada");
      // The session's cookie is SameSite=Strict.
      const again = await agent.request(back, { headers: { cookie: flow } });
      const statusOf = async (id: string) => {
        const cookie = `oncehook-session-${new URL(base).port}=${id}`;
        return (await receiver.admin(SESSION, { headers: { authorization: "", cookie } })).status;
      };
      expect([await statusOf(earlier), await statusOf(sessionIdIn(again))]).toEqual([401, 200]);
    }));

  it("a mail address on the list of viewers signs in as a viewer", () =>
    withOperators("sqlite", async ({ signIn, base }) => {
      const page = new OwnPage(base, (await signIn("vera")).agent);
      expect((await page.ask("GET", SESSION)).body).toMatchObject({
        actor: "vera@example.com",
        role: "viewer",
      });
      expect((await page.ask("DELETE", "/api/v1/failures/platform/none")).status).toBe(403);
    }));

  it("the sign-in takes an address for verified where the provider says so in a text", () =>
    withOperators("sqlite", async ({ signIn }) => expect((await signIn("nora")).answer.status).toBe(200), {
      env: { ADMIN_OIDC_OPERATORS: "nora@example.com" },
    }));

  it("the sign-in takes an address and that it is verified from one document", () =>
    withOperators(
      "sqlite",
      async (test) => {
        // The ID token names ada, unverified; userinfo has an address of trudy's own, verified.
        expect((await test.signIn("trudy")).answer.status).toBe(403);
        expect((await audit(test))[0]).toMatchObject({
          action: "session.refused",
          actor: "trudy@example.com",
        });
      },
      { oidc: { claimsInIdToken: true } },
    ));

  it("the sign-in takes no userinfo of another subject", () =>
    withOperators("sqlite", async (test) => {
      expect((await test.signIn("ivan")).answer.status).toBe(503);
      expect((await audit(test)).filter(({ action }) => action === "session.begin")).toEqual([]);
    }));

  it("a mail address that only resembles an operator's is refused", () =>
    withOperators(
      "sqlite",
      async (test) => {
        expect((await test.signIn("\u212Ben")).answer.status).toBe(403);
        expect((await test.signIn("\u212Aen")).answer.status).toBe(403);
        expect((await test.signIn("KEN")).answer.status).toBe(200);
      },
      { env: { ADMIN_OIDC_OPERATORS: "Ken@Example.com" } },
    ));

  it.each([
    ["is on neither list", "mallory", "mallory@example.com"],
    ["has an address that the provider has not verified", "eve", "sub:eve"],
    ["has an address of which the provider says so in a text", "erin", "sub:erin"],
  ])("an account that %s is refused", (_title, login, actor) =>
    withOperators("sqlite", async (test) => {
      const { agent, answer } = await test.signIn(login);
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("on neither list")]);
      expect((await new OwnPage(test.base, agent).ask("GET", SESSION)).status).toBe(401);
      await until(async () => (await audit(test)).length === 1);
      expect(await audit(test)).toMatchObject([
        {
          action: "session.refused",
          actor,
          role: null,
          detail: { reason: "on neither list" },
          outcome: "refused",
        },
      ]);
    }),
  );

  it("the sign-in takes the claims from the ID token where they are there", () =>
    withOperators(
      "sqlite",
      async ({ signIn, base }) => {
        const page = new OwnPage(base, (await signIn("ada")).agent);
        expect((await page.ask("GET", SESSION)).body).toMatchObject({ actor: "ada@example.com" });
      },
      { oidc: { claimsInIdToken: true } },
    ));

  it("the sign-in goes by another claim, with many values, and names people by their subject where it knows no address", () =>
    withOperators(
      "sqlite",
      async ({ signIn, base }) => {
        const page = new OwnPage(base, (await signIn("vera")).agent);
        expect((await page.ask("GET", SESSION)).body).toMatchObject({ actor: "sub:vera", role: "viewer" });
        const operator = new OwnPage(base, (await signIn("ada")).agent);
        expect((await operator.ask("GET", SESSION)).body).toMatchObject({ role: "operator" });
      },
      {
        env: {
          ADMIN_OIDC_SCOPES: "openid groups",
          ADMIN_OIDC_CLAIM: "groups",
          ADMIN_OIDC_OPERATORS: "adas",
          ADMIN_OIDC_VIEWERS: "everybody",
        },
      },
    ));

  it("the sign-in asks with PKCE, state and nonce, and binds them to the browser by a short-lived cookie", () =>
    withOperators("sqlite", async ({ base, platform }) => {
      const response = await new UserAgent().request(`${base}/sign-in/oidc`);
      expect(response.status).toBe(303);
      const location = new URL(response.headers.get("location") ?? "");
      expect(location.origin).toBe(platform.issuer);
      expect(Object.fromEntries(location.searchParams)).toEqual({
        response_type: "code",
        client_id: "oncehook",
        redirect_uri: `${base}/sign-in/oidc/callback`,
        scope: "openid email",
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: "S256",
      });
      const cookie = response.headers.get("set-cookie") ?? "";
      expect(cookie).toMatch(/^oncehook-flow-\d+=[\w-]{100,1000}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
      expect(cookie).not.toContain(location.searchParams.get("state"));
    }));

  it("a changed list ends its sessions, and those of no other process", () =>
    withOperators("sqlite", async ({ signIn, receiver, env }) => {
      const id = sessionIdIn((await signIn("ada")).answer);
      const others = { ADMIN_OIDC_OPERATORS: "somebody@example.com" };
      const changed = await startReceiver(receiver.target, { env: { ...env, ...others, ADMIN_PORT: "0" } });
      const same = await startReceiver(receiver.target, { env: { ...env, ADMIN_PORT: "0" } });
      const statusAt = async ({ adminOrigin, admin }: typeof same) => {
        const cookie = `oncehook-session-${new URL(adminOrigin).port}=${id}`;
        return (await admin(SESSION, { headers: { authorization: "", cookie } })).status;
      };
      expect([await statusAt(same), await statusAt(changed)]).toEqual([200, 401]);
      await Promise.all([changed.stop(), same.stop()]);
    }));
});

describe("the way back from the provider", () => {
  it("a sign-in's redirect works once, and takes the flow's cookie away", () =>
    withOperators("sqlite", async ({ arrive, platform }) => {
      const { agent, back } = await arrive("ada");
      const first = await agent.request(back);
      expect(first.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^oncehook-session-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/),
        expect.stringMatching(/^oncehook-flow-\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/),
      ]);
      expect((await agent.request(back)).status).toBe(401);
      expect(platform.grants.authorization_code).toBe(1);
    }));

  it.each([
    ["with another state", (url: URL) => url.searchParams.set("state", "x".repeat(43))],
    ["with another issuer", (url: URL) => url.searchParams.set("iss", "https://evil.example")],
    ["without the issuer, which the provider promises", (url: URL) => url.searchParams.delete("iss")],
    ["with two codes", (url: URL) => url.searchParams.append("code", "another")],
    ["without a code", (url: URL) => url.searchParams.delete("code")],
  ])("a sign-in is refused %s, and sends the code nowhere", (_title, change) =>
    withOperators("sqlite", async (test) => {
      const { agent, back } = await test.arrive("ada");
      const url = new URL(back);
      change(url);
      const answer = await agent.request(url.href);
      expect([answer.status, answer.headers.getSetCookie().length]).toEqual([401, 1]);
      expect(test.platform.grants).toEqual({ authorization_code: 0, refresh_token: 0, refused: 0 });
      await until(async () => (await audit(test)).length === 1);
      expect(await audit(test)).toMatchObject([{ action: "session.refused", actor: null }]);
    }),
  );

  it.each([
    ["in another browser", () => new UserAgent()],
    ["with a flow that was not begun here", () => withFlowCookie("A".repeat(400))],
  ])("a sign-in is refused %s without an audit entry, because any page can send a browser there", (_title, stranger) =>
    withOperators("sqlite", async (test) => {
      const { receiver, platform } = test;
      const { back } = await test.arrive("ada");
      const answer = await stranger().request(back);
      expect([answer.status, answer.headers.getSetCookie().length]).toEqual([401, 1]);
      expect(platform.grants).toEqual({ authorization_code: 0, refresh_token: 0, refused: 0 });
      expect(receiver.lines.filter(({ msg }) => msg === STRANGER)).toHaveLength(1);
      expect(await audit(test)).toEqual([]);
      expect(JSON.stringify(receiver.lines)).not.toContain(new URL(back).searchParams.get("code"));
    }),
  );

  it("redirects without a flow never lock out an operator with a token", () =>
    withOperators("sqlite", async (test) => {
      const { base, receiver, signIn } = test;
      for (let turn = 0; turn < 70; turn += 1) {
        const url = `${base}/sign-in/oidc/callback?code=made-up-${turn}&state=x`;
        expect((await new UserAgent().request(url)).status).toBe(401);
      }
      expect((await receiver.admin(SESSION)).status).toBe(200);
      expect((await new OwnPage(base).signIn(TOKEN)).status).toBe(200);
      expect((await signIn("ada")).answer.status).toBe(200);
      expect(await audit(test)).toMatchObject([{ action: "session.begin" }, { action: "session.begin" }]);
      expect(receiver.lines.filter(({ msg }) => msg === STRANGER)).toHaveLength(60);
    }));

  it("a sign-in with the code of another user's flow is refused", () =>
    withOperators("sqlite", async ({ arrive, platform, base }) => {
      const [victim, attacker] = [await arrive("ada"), await arrive("mallory")];
      const injected = new URL(attacker.back);
      injected.searchParams.set("code", new URL(victim.back).searchParams.get("code") ?? "");
      expect((await attacker.agent.request(injected.href)).status).toBe(401);
      expect(platform.grants).toMatchObject({ authorization_code: 0, refused: 1 });
      expect((await new OwnPage(base, attacker.agent).ask("GET", SESSION)).status).toBe(401);
    }));

  it("a refusal shows no text from the provider or from the address", () =>
    withOperators("sqlite", async ({ arrive }) => {
      const { agent, back } = await arrive("ada");
      const refusal = new URL(back);
      refusal.searchParams.delete("code");
      refusal.searchParams.set("error", "access_denied");
      refusal.searchParams.set("error_description", "<script>alert(1)</script>");
      const page = await agent.request(refusal.href);
      expect(page.status).toBe(401);
      expect(await page.text()).not.toMatch(/script>alert|access_denied/);
      expect(Object.fromEntries(page.headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "content-security-policy": expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
        ),
      });
    }));

  it("the redirect from the provider is accepted for ten minutes", () => {
    const time = { offset: 0 };
    return withOperators(
      "sqlite",
      async ({ arrive, platform }) => {
        const { agent, back } = await arrive("ada");
        time.offset = 601_000;
        expect((await agent.request(back)).status).toBe(401);
        expect(platform.grants.authorization_code).toBe(0);
      },
      { clock: { now: () => new Date(Date.now() + time.offset) } },
    );
  });

  it("a wrong redirect can be tried ten times a minute, each time in a flow that was started here", () =>
    withOperators("sqlite", async ({ base, arrive }) => {
      for (let turn = 0; turn < 10; turn += 1) {
        const guesser = new UserAgent();
        await guesser.request(`${base}/sign-in/oidc`);
        const url = `${base}/sign-in/oidc/callback?code=made-up-${turn}&state=x`;
        expect((await guesser.request(url)).status).toBe(401);
      }
      const { agent, back } = await arrive("ada");
      expect((await agent.request(back)).status).toBe(429);
    }));

  it("a sign-in leads to the page that was asked for, with its filter", () =>
    withOperators("sqlite", async ({ base, receiver }) => {
      const to = "/failures?event_id=a%26b%22%3E&state=exhausted#x";
      const agent = new UserAgent();
      const start = `${base}/sign-in/oidc?${new URLSearchParams({ back: to })}`;
      const back = await agent.authorize(start, `${base}/sign-in/oidc/callback`, "ada");
      const html = await (await agent.request(back)).text();
      expect(html).toContain('content="0;url=/failures?event_id=a%26b%22%3E&amp;state=exhausted#x"');
      expect(html).toContain('href="/failures?event_id=a%26b%22%3E&amp;state=exhausted#x"');
      expect(JSON.stringify(receiver.lines)).not.toContain("a%26b");
    }));

  it.each([
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/.//evil.example",
    "/a/..//evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "failures",
    "/sign-in/oidc",
    `/failures?text=${"x".repeat(1_200)}`,
  ])("a sign-in goes on to the first page where it was asked to go to %s", (to) =>
    withOperators("sqlite", async ({ base }) => {
      const agent = new UserAgent();
      const start = `${base}/sign-in/oidc?${new URLSearchParams({ back: to })}`;
      const back = await agent.authorize(start, `${base}/sign-in/oidc/callback`, "ada");
      expect(await (await agent.request(back)).text()).toContain('content="0;url=/"');
    }),
  );

  it("the sign-in says that the provider cannot be asked, in the page and in the log, and keeps no code in it", () =>
    withOperators("sqlite", async ({ arrive, platform, receiver }) => {
      const { agent, back } = await arrive("ada");
      platform.before = () => 503;
      const page = await agent.request(back);
      expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("Not right now")]);
      const { searchParams } = new URL(back);
      expect(JSON.stringify(receiver.lines)).toContain("could not be finished");
      for (const name of ["code", "state"])
        expect(JSON.stringify(receiver.lines)).not.toContain(searchParams.get(name));
    }));

  it("a sign-in does not start while the provider is unavailable, and the token still signs in", () =>
    withOperators(
      "sqlite",
      async ({ base, receiver }) => {
        expect((await new UserAgent().request(`${base}/sign-in/oidc`)).status).toBe(503);
        expect((await receiver.admin(SESSION)).status).toBe(200);
      },
      { env: { ADMIN_OIDC_ISSUER: "http://127.0.0.1:1" } },
    ));
});
