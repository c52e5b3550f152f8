import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, Rejected } from "../../src/index.ts";
import { idleListener, routesOf } from "../support/admin-listener.ts";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { conforms } from "../support/openapi.ts";
import { OwnPage, sessionIdIn } from "../support/own-page.ts";
import { event, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const VIEWER = "a-token-for-who-may-look";
const HTTPS = { ADMIN_BASE_URL: "https://admin.example.com" };
const SESSION = "/api/v1/session";
const FAILURE = "/api/v1/failures/platform/f1";
const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  handle() {
    throw new Error("down");
  },
});
const handlers = [failing];

const failOne = (receiver: TestReceiver) => receiver.send(event("failing", {}, { event_id: "f1" }));

describeFullOnPostgres("a session on %s", (dialect) => {
  it("the token starts a session, in a cookie for the receiver's own page alone, stored as a hash", () =>
    withReceiver(
      dialect,
      async ({ adminOrigin, target }) => {
        const page = new OwnPage(adminOrigin);
        expect((await page.ask("GET", SESSION)).status).toBe(401);
        const begun = await page.signIn(TOKEN);
        conforms(SESSION, "post", begun);
        expect(begun.body).toMatchObject({
          actor: "token",
          role: "operator",
          environment: "test",
          sandbox: true,
        });
        expect(Date.parse(String(begun.body.expires_at)) - Date.now()).toBeGreaterThan(11.9 * 3_600_000);
        expect(begun.headers.get("set-cookie")).toMatch(
          /^__Host-oncehook-session=[\w-]{43}; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Strict$/,
        );
        const found = await page.ask("GET", SESSION);
        conforms(SESSION, "get", found);
        expect(found.body).toEqual(begun.body);
        const stored = await rowsOf(target, "SELECT * FROM oncehook_sessions");
        expect(stored).toHaveLength(1);
        expect(JSON.stringify(stored)).not.toContain(sessionIdIn(begun));
      },
      { env: HTTPS },
    ));

  it("a session ends for every process at once when its owner signs out, or signs in again", () =>
    withDatabase(dialect, async (target) => {
      const [first, second] = await Promise.all([1, 2].map(() => startReceiver(target, { env: HTTPS })));
      if (first === undefined || second === undefined) throw new Error("two were started");
      const page = new OwnPage(first.adminOrigin);
      const cookie = `__Host-oncehook-session=${sessionIdIn(await page.signIn(TOKEN))}`;
      const atSecond = () => second.admin(SESSION, { headers: { authorization: "", cookie } });
      expect((await atSecond()).status).toBe(200);
      const again = `__Host-oncehook-session=${sessionIdIn(await page.signIn(TOKEN))}`;
      expect((await atSecond()).status).toBe(401);
      const headers = { authorization: "", cookie: again };
      expect((await second.admin(SESSION, { headers })).status).toBe(200);
      const ended = await page.ask("DELETE", SESSION);
      expect([ended.status, ended.headers.get("set-cookie")]).toEqual([
        204,
        expect.stringMatching(/^__Host-oncehook-session=; Path=\/; Max-Age=0; /),
      ]);
      expect((await second.admin(SESSION, { headers })).status).toBe(401);
      await Promise.all([first.stop(), second.stop()]);
    }));

  it("a session ends with its time, and with the token that started it", () =>
    withDatabase(dialect, async (target) => {
      const time = { offset: 0 };
      const clock = { now: () => new Date(Date.now() + time.offset) };
      const env = { ...HTTPS, ADMIN_SESSION_HOURS: "1" };
      const receiver = await startReceiver(target, { env, clock });
      const page = new OwnPage(receiver.adminOrigin);
      const cookie = `__Host-oncehook-session=${sessionIdIn(await page.signIn(TOKEN))}`;
      const rotated = await startReceiver(target, {
        env: { ...env, ADMIN_TOKEN: "another-token-than-before" },
      });
      const elsewhere = await rotated.admin(SESSION, { headers: { authorization: "", cookie } });
      expect(elsewhere.status).toBe(401);
      time.offset = 3_599_000;
      expect((await page.ask("GET", SESSION)).status).toBe(200);
      time.offset = 3_601_000;
      expect((await page.ask("GET", SESSION)).status).toBe(401);
      await Promise.all([receiver.stop(), rotated.stop()]);
    }));

  it("a session ends with the role of its token, where what was ADMIN_TOKEN is ADMIN_VIEWER_TOKEN now, and the other way round", () =>
    withDatabase(dialect, async (target) => {
      const env = { ...HTTPS, ADMIN_VIEWER_TOKEN: VIEWER };
      const receiver = await startReceiver(target, { env });
      const cookies: string[] = [];
      for (const token of [TOKEN, VIEWER]) {
        const begun = await new OwnPage(receiver.adminOrigin).signIn(token);
        cookies.push(`__Host-oncehook-session=${sessionIdIn(begun)}`);
      }
      const changed = await startReceiver(target, {
        env: { ...env, ADMIN_TOKEN: VIEWER, ADMIN_VIEWER_TOKEN: TOKEN },
      });
      for (const cookie of cookies) {
        const headers = { authorization: "", cookie };
        expect((await receiver.admin(SESSION, { headers })).status).toBe(200);
        expect((await changed.admin(SESSION, { headers })).status).toBe(401);
      }
      await Promise.all([receiver.stop(), changed.stop()]);
    }));

  it("a viewer's session reads everything and changes nothing, by cookie and by token, and may sign out", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await failOne(receiver);
        const page = new OwnPage(receiver.adminOrigin);
        expect((await page.signIn(VIEWER)).body).toMatchObject({ actor: "token", role: "viewer" });
        const bearer = { headers: { authorization: `Bearer ${VIEWER}` } };
        for (const path of ["/api/v1/failures", "/api/v1/callbacks", "/api/v1/audit", SESSION]) {
          expect((await page.ask("GET", path)).status).toBe(200);
          expect((await receiver.admin(path, bearer)).status).toBe(200);
        }
        for (const answer of [
          await page.ask("DELETE", FAILURE),
          await receiver.admin(FAILURE, { ...bearer, method: "DELETE" }),
        ]) {
          expect(answer.status).toBe(403);
          conforms("/api/v1/failures/{source}/{event_id}", "delete", answer);
        }
        expect(await receiver.count("oncehook_failures")).toBe(1);
        await until(async () => (await receiver.count("oncehook_audit", "action = 'failure.discard'")) === 2);
        const { items } = (await receiver.admin("/api/v1/audit?action=failure.discard&limit=1")).body;
        expect(items).toMatchObject([{ role: "viewer", target: "platform/f1", outcome: "refused" }]);
        expect((await page.ask("DELETE", SESSION)).status).toBe(204);
      },
      { handlers, env: { ADMIN_VIEWER_TOKEN: VIEWER } },
    ));
});

/** A request with any `Host`, which `fetch` would not send. */
function statusFor(origin: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

const PROVEN = [
  ["Sec-Fetch-Site", () => ({ "sec-fetch-site": "same-origin" })],
  ["Origin", (origin: string) => ({ "sec-fetch-site": "", origin })],
] as const;
const FOREIGN = [
  ["another site", { "sec-fetch-site": "cross-site" }],
  ["another port or subdomain of the same site", { "sec-fetch-site": "same-site" }],
  ["another origin", { "sec-fetch-site": "", origin: "https://evil.example" }],
  ["a page without an origin", { "sec-fetch-site": "", origin: "null" }],
] as const;

/** An empty header is left out: a test's browser that says nothing of where a request comes from. */
function given(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
}

/** Signs in as a page does, and then sends with nothing but the cookie and what is given. */
async function withCookie(
  receiver: TestReceiver,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const begun = await new OwnPage(receiver.adminOrigin).signIn(TOKEN);
  const [cookie = ""] = (begun.headers.get("set-cookie") ?? "").split(";");
  const response = await fetch(receiver.adminOrigin + path, {
    method,
    headers: { cookie, ...given(headers) },
  });
  return response.status;
}

it("a lower ADMIN_SESSION_HOURS also ends sessions that started before, and their end says so", () =>
  withDatabase("sqlite", async (target) => {
    const time = { offset: 0 };
    const clock = { now: () => new Date(Date.now() + time.offset) };
    const serving = (hours: string) => startReceiver(target, { env: { ...HTTPS, ADMIN_SESSION_HOURS: hours }, clock });
    const [before, after] = [await serving("2"), await serving("1")];
    const begun = await new OwnPage(before.adminOrigin).signIn(TOKEN);
    const cookie = `__Host-oncehook-session=${sessionIdIn(begun)}`;
    const ask = (receiver: TestReceiver) => receiver.admin(SESSION, { headers: { authorization: "", cookie } });
    const endsAt = async (receiver: TestReceiver) => Date.parse(String((await ask(receiver)).body.expires_at));
    expect((await endsAt(before)) - (await endsAt(after))).toBe(3_600_000);
    time.offset = 3_601_000;
    expect([(await ask(before)).status, (await ask(after)).status]).toEqual([200, 401]);
    await Promise.all([before.stop(), after.stop()]);
  }));

it("a viewer gets no secret that a handler returned or sent, and an operator gets none from a replay", () => {
  const secret = "hunter2hunter2";
  let attempts = 0;
  const leaking = defineHandler({
    type: "leaking",
    data: z.object({}),
    async handle({ notify }) {
      attempts += 1;
      if (attempts === 1) throw new Error("down");
      if (attempts === 2) throw new Rejected(`no, token=${secret}`);
      await notify("order.new", { access_token: secret, paid: true });
      return { access_token: secret, paid: true };
    },
  });
  return withReceiver(
    "sqlite",
    async (receiver) => {
      await receiver.send(event("leaking", {}, { event_id: "f1" }));
      const replay = async () => (await receiver.admin(`${FAILURE}/replay`, { method: "POST" })).body;
      expect(await replay()).toMatchObject({ outcome: "rejected", error: "no, token=[masked]" });
      const masked = { access_token: "[masked]", paid: true };
      expect(await replay()).toMatchObject({ outcome: "success", result: masked });
      const headers = { authorization: `Bearer ${VIEWER}` };
      const read = async (path: string) => (await receiver.admin(path, { headers })).body;
      for (const path of ["/api/v1/events", "/api/v1/events/platform/f1"]) {
        const text = JSON.stringify(await read(path));
        expect(text).toContain(JSON.stringify(masked));
        expect(text).not.toContain(secret);
      }
      expect((await read("/api/v1/events/platform/f1")).notifications).toMatchObject([{ payload: masked }]);
      // A list of notifications has no payload.
      expect(JSON.stringify(await read("/api/v1/notifications"))).not.toContain(secret);
    },
    { handlers: [leaking], env: { ADMIN_VIEWER_TOKEN: VIEWER } },
  );
});

describe("a browser's session", () => {
  it.each(PROVEN)("a session changes things for the receiver's own page, identified by %s", (_by, headers) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await failOne(receiver);
        const status = await withCookie(receiver, "DELETE", FAILURE, headers(receiver.adminOrigin));
        expect([status, await receiver.count("oncehook_failures")]).toEqual([204, 0]);
      },
      { handlers },
    ),
  );

  it.each([...FOREIGN, ["somebody who does not say", { "sec-fetch-site": "" }] as const])(
    "a session changes nothing for %s",
    (_from, headers) =>
      withReceiver(
        "sqlite",
        async (receiver) => {
          await failOne(receiver);
          const status = await withCookie(receiver, "DELETE", FAILURE, headers);
          expect([status, await receiver.count("oncehook_failures")]).toEqual([403, 1]);
        },
        { handlers },
      ),
  );

  it.each(FOREIGN)("a request from %s starts no session, even with the right token", (_from, headers) =>
    withReceiver("sqlite", async (receiver) => {
      const response = await fetch(receiver.adminOrigin + SESSION, {
        method: "POST",
        headers: { "content-type": "application/json", ...given(headers) },
        body: JSON.stringify({ token: TOKEN }),
      });
      expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
      expect(await receiver.count("oncehook_sessions")).toBe(0);
    }),
  );

  it("a browser's origin is compared with ADMIN_BASE_URL where a proxy passes another Host on", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        await failOne(receiver);
        const origin = { "sec-fetch-site": "", origin: HTTPS.ADMIN_BASE_URL };
        expect(await withCookie(receiver, "DELETE", FAILURE, origin)).toBe(204);
      },
      { handlers, env: HTTPS },
    ));

  it("a cookie is ignored beside a wrong token, and no origin matters beside a right token", () =>
    withReceiver("sqlite", async (receiver) => {
      const authorization = "Bearer wrong-and-of-any-length";
      expect(await withCookie(receiver, "GET", SESSION, { authorization })).toBe(401);
      const right = { authorization: `Bearer ${TOKEN}`, origin: "https://evil.example" };
      const options = { method: "DELETE", headers: right };
      expect((await fetch(receiver.adminOrigin + FAILURE, options)).status).toBe(404);
    }));

  it("a browser keeps apart two receivers on one machine, where cookies know no ports", () =>
    withReceiver("sqlite", (one) =>
      withReceiver("sqlite", async (other) => {
        const cookies = [one, other].map(async ({ adminOrigin }) => {
          const { headers } = await new OwnPage(adminOrigin).signIn(TOKEN);
          return headers.get("set-cookie")?.split(";")[0];
        });
        const cookie = (await Promise.all(cookies)).join("; ");
        for (const { adminOrigin } of [one, other]) {
          expect((await fetch(adminOrigin + SESSION, { headers: { cookie } })).status).toBe(200);
        }
        const [name] = cookie.split("=");
        const twice = `${cookie}; ${name}=${"a".repeat(43)}`;
        expect((await fetch(one.adminOrigin + SESSION, { headers: { cookie: twice } })).status).toBe(401);
      }),
    ));
});

describe("a session's cookie", () => {
  it.each([
    ["https://admin.example.com", "__Host-oncehook-session"],
    ["https://admin.example.com:8443", "__Host-oncehook-session-8443"],
    ["https://admin.example.com:9443", "__Host-oncehook-session-9443"],
  ])("the session cookie's name has the port of ADMIN_BASE_URL where it is not 443: %s", (base, name) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const begun = await new OwnPage(receiver.adminOrigin).signIn(TOKEN);
        const cookie = `${name}=${sessionIdIn(begun)}`;
        expect(begun.headers.get("set-cookie")).toMatch(new RegExp(`^${cookie}; .*Secure;`));
        const answer = await receiver.admin(SESSION, { headers: { authorization: "", cookie } });
        expect(answer.status).toBe(200);
      },
      { env: { ADMIN_BASE_URL: base } },
    ),
  );
});

describe("the admin listener", () => {
  it.each([
    "evil.example",
    "evil.example:8081",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "a b",
    "192.0.2.1",
  ])("a loopback admin listener returns 421 for another name: %s", (host) =>
    withReceiver("sqlite", async ({ adminOrigin }) => {
      for (const path of ["/metrics", "/api/v1/sign-in", SESSION, "/sandbox/oauth/authorize"])
        expect(await statusFor(adminOrigin, path, { host })).toBe(421);
      expect(await statusFor(adminOrigin, "/readyz", { host })).toBe(200);
    }),
  );

  it.each([
    "127.0.0.1",
    "localhost",
    "LOCALHOST:8081",
    "[::1]:8081",
    "127.9.9.9",
    "admin.example.com",
    "admin.example.com:8443",
  ])("the admin listener answers under its own names and the one of ADMIN_BASE_URL: %s", (host) =>
    withReceiver(
      "sqlite",
      async ({ adminOrigin }) => {
        expect(await statusFor(adminOrigin, "/api/v1/sign-in", { host })).toBe(200);
        expect(await statusFor(adminOrigin, SESSION, { host })).toBe(401);
      },
      { env: HTTPS },
    ),
  );

  it("the listener answers under any name where other machines reach it too, as probes and scrapers do", () =>
    withReceiver(
      "sqlite",
      async ({ adminOrigin }) => {
        for (const host of ["oncehook.internal:8081", "10.1.2.3:8081"])
          expect(await statusFor(adminOrigin, "/metrics", { host })).toBe(200);
      },
      { env: { ADMIN_HOST: "0.0.0.0" } },
    ));

  it("no admin response can be framed, guessed at, read by another site, or reveal its address", () =>
    withReceiver("sqlite", async (receiver) => {
      for (const [path, status] of [
        ["/healthz", 200],
        ["/metrics", 200],
        ["/api/v1/sign-in", 200],
        ["/api/v1/events", 401],
        ["/none", 401],
      ] as const) {
        const answer = await fetch(receiver.adminOrigin + path);
        expect([path, answer.status]).toEqual([path, status]);
        expect(Object.fromEntries(answer.headers)).toMatchObject({
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "referrer-policy": "same-origin",
          "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
        });
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      }
    }));

  it("the admin listener is open without sign-in at the listed addresses and no other", () =>
    withReceiver("sqlite", async (receiver) => {
      const routes = await routesOf(idleListener({ sandbox: { redirectUri: "http://127.0.0.1:1" } as never }));
      const open: string[] = [];
      for (const { method, path } of routes) {
        const url = receiver.adminOrigin + path.replace(/\{\w+\}/g, "1");
        const answer = await fetch(url, { method });
        // The page is for everybody; what it shows is not.
        const isPage = answer.headers.get("content-type")?.startsWith("text/html") || path.startsWith("/assets/");
        if (answer.status !== 401 && !isPage) open.push(`${method} ${path}`);
      }
      // The sandbox platform asks its client for credentials of its own, and answers 401 as well.
      expect(open.sort()).toEqual([
        "GET /api/v1/sign-in",
        "GET /healthz",
        "GET /metrics",
        "GET /readyz",
        "GET /sandbox/oauth/authorize",
        "POST /api/v1/session",
      ]);
    }));

  it("the listener says how one can sign in", () =>
    withReceiver("sqlite", async (receiver) => {
      const answer = await receiver.admin("/api/v1/sign-in", { headers: { authorization: "" } });
      conforms("/api/v1/sign-in", "get", answer);
      expect(answer.body).toEqual({ methods: ["token"], oidc_label: null, environment: "test" });
      expect((await receiver.admin("/sign-in/oidc")).status).toBe(404);
    }));
});
