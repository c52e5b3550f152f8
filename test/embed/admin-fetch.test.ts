import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdminOptions } from "../../src/embed/admin-fetch.ts";
import { describeFullOnPostgres, fullOnPostgres } from "../support/databases.ts";
import {
  type EmbeddedAdminTest,
  FAILED,
  HANDLED,
  lentEmbeddedAdmin,
  withEmbeddedAdmin,
} from "../support/embedded-admin.ts";
import { until } from "../support/until.ts";

const ORIGIN = "https://shop.example";
const MOUNT = "/admin/webhooks";
const SAME_ORIGIN = { "sec-fetch-site": "same-origin", cookie: "app=1" };

/** The role is in the application's cookie; whoever sends a key is an operator. */
const byCookie: AdminOptions = {
  authorize(request) {
    if (request.headers.has("authorization")) return "operator";
    const [, role] = /role=(operator|viewer)/.exec(request.headers.get("cookie") ?? "") ?? [];
    return role === undefined ? null : { role: role as "operator" | "viewer", name: `${role}@shop.example` };
  },
};
const everyone: AdminOptions = { authorize: () => "operator" };

interface Sending extends RequestInit {
  readonly basePath?: string;
  readonly clientAddress?: string;
}

function ask({ admin }: EmbeddedAdminTest, path: string, { basePath = MOUNT, clientAddress, ...init }: Sending = {}) {
  return admin.fetch(new Request(ORIGIN + basePath + path, init), { basePath, clientAddress });
}

async function json(response: Response | Promise<Response>) {
  const answered = await response;
  return { status: answered.status, body: (await answered.json()) as Record<string, unknown> };
}

const replayOf = (id: string) => `/api/v1/failures/platform/${id}/replay`;
const withRole = (role: string) => ({ ...SAME_ORIGIN, cookie: `role=${role}` });

describeFullOnPostgres("the admin API in an application, on %s", (dialect) => {
  it(
    "an operator whom the application admits replays a failed event, and the audit log names that person",
    {
      tags: fullOnPostgres(dialect),
    },
    () =>
      withEmbeddedAdmin(dialect, byCookie, async (test) => {
        const caller = { headers: withRole("operator"), clientAddress: "::ffff:192.0.2.7" };
        const list = await json(ask(test, "/api/v1/failures", caller));
        expect(list.body.items).toMatchObject([{ event_id: FAILED }]);
        const replayed = await json(ask(test, replayOf(FAILED), { ...caller, method: "POST" }));
        expect([replayed.status, replayed.body.outcome]).toEqual([200, "success"]);
        expect(await test.count("oncehook_records", `event_id = '${FAILED}'`)).toBe(1);
        const audit = await json(ask(test, "/api/v1/audit", caller));
        expect(audit.body.items).toMatchObject([
          {
            action: "failure.replay",
            actor: "operator@shop.example",
            role: "operator",
            outcome: "done",
            remote_address: "192.0.2.7",
          },
        ]);
      }),
  );
});

const shared = lentEmbeddedAdmin(byCookie);
beforeAll(shared.begin);
afterAll(shared.end);
const operator = { headers: { cookie: "role=operator" } };

describe("admin.authorize", () => {
  it("a receiver without admin.authorize serves no admin API, and warns once", () =>
    withEmbeddedAdmin("sqlite", undefined, async (test) => {
      for (const path of ["", "/api/v1/callbacks", "/healthz", "/metrics"]) {
        const { status, body } = await json(ask(test, path, { headers: { accept: "text/html" } }));
        expect([path, status, body]).toEqual([path, 404, { error: "not found" }]);
      }
      const warnings = test.lines.filter(({ msg }) => String(msg).includes("admin.authorize"));
      expect(warnings).toHaveLength(1);
    }));

  it("a request for which authorize returns null gets 403 everywhere: as JSON, and as a page for a person", async () => {
    const { test } = shared;
    for (const path of ["/api/v1/callbacks", "/metrics", "/healthz", "/readyz", "/assets/index.js", "/"]) {
      const { status, body } = await json(ask(test, path));
      expect([path, status, body.error]).toEqual([path, 403, expect.stringContaining("sign in there")]);
    }
    const page = await ask(test, "/callbacks", { headers: { accept: "text/html" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const html = await page.text();
    expect(html).toContain("The application did not let you in");
    expect(html).not.toContain("<script");
  });

  it("a viewer reads everything, changes nothing, and the refused change is in the audit log", async () => {
    const { test } = shared;
    const headers = withRole("viewer");
    expect((await ask(test, "/api/v1/callbacks", { headers })).status).toBe(200);
    const refused = await json(ask(test, replayOf(FAILED), { method: "POST", headers }));
    expect([refused.status, refused.body.error]).toEqual([403, "this needs the role operator; yours is viewer"]);
    expect(await test.count("oncehook_records", `event_id = '${FAILED}'`)).toBe(0);
    await until(async () => (await test.count("oncehook_audit", "outcome = 'refused'")) === 1);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("the session store is away"))],
    ["returns an unknown role", () => "admin" as never],
    ["returns an object without a role", () => ({ name: "ada" }) as never],
  ])("an authorize that %s answers 500, is logged, and serves nothing", (_, authorize) =>
    withEmbeddedAdmin("sqlite", { authorize }, async (test) => {
      const { status, body } = await json(ask(test, "/api/v1/callbacks"));
      expect([status, body.items]).toEqual([500, undefined]);
      expect(test.lines.filter(({ msg }) => String(msg).includes("admin.authorize failed"))).toHaveLength(1);
    }),
  );

  it("the page learns the name and the role that authorize gave, and that there is no sandbox", async () => {
    const { test } = shared;
    const { body } = await json(ask(test, "/api/v1/session", { headers: withRole("viewer") }));
    expect(body).toMatchObject({
      actor: "viewer@shop.example",
      role: "viewer",
      sandbox: false,
      expires_at: null,
    });
  });

  it("the sign-in, sessions and the sandbox of the server do not exist, whatever a request sends", async () => {
    const { test } = shared;
    const headers = { ...withRole("operator"), "content-type": "application/json" };
    const posted = { method: "POST", headers, body: "{}" };
    for (const [path, init] of [
      ["/api/v1/sign-in", operator],
      ["/api/v1/session", posted],
      ["/api/v1/session", { method: "DELETE", headers: withRole("operator") }],
      ["/sign-in/oidc", operator],
      ["/sign-in", operator],
      ["/sandbox", operator],
      ["/api/v1/sandbox", operator],
      ["/api/v1/sandbox/events", posted],
    ] as const)
      expect([path, (await ask(test, path, init)).status]).toEqual([path, 404]);
  });
});

describe("a change through the admin API of an application", () => {
  const discard = (headers: Record<string, string>) => ({ method: "DELETE", headers });
  const FAILURE = `/api/v1/failures/platform/${FAILED}`;

  it.each([
    ["another site", { cookie: "role=operator", "sec-fetch-site": "cross-site" }],
    ["another host of the same site", { cookie: "role=operator", "sec-fetch-site": "same-site" }],
    ["another origin, by an old browser", { cookie: "role=operator", origin: "https://evil.example" }],
    ["a sandboxed frame", { cookie: "role=operator", origin: "null" }],
    ["another site, authenticated without a cookie", { authorization: "Basic YTpi", "sec-fetch-site": "cross-site" }],
    ["nobody knows where, with a cookie", { cookie: "role=operator" }],
  ])("a change that comes from %s is refused, and nothing is done", async (_, headers) => {
    const { test } = shared;
    const { status, body } = await json(ask(test, FAILURE, discard(headers as never)));
    expect([status, body.error]).toEqual([403, expect.stringContaining("another origin")]);
    expect(await test.count("oncehook_failures", `event_id = '${FAILED}'`)).toBe(1);
  });

  it.each([
    ["the page", SAME_ORIGIN],
    ["the page, by a browser that sends only Origin", { cookie: "app=1", origin: ORIGIN }],
    ["a script that sends a key and no cookie", { authorization: "Bearer key-of-the-application" }],
  ])("a change that comes from %s is made", (_, headers) =>
    withEmbeddedAdmin("sqlite", everyone, async (test) => {
      expect((await ask(test, FAILURE, discard(headers as never))).status).toBe(204);
      expect(await test.count("oncehook_failures", `event_id = '${FAILED}'`)).toBe(0);
      const audit = await json(ask(test, "/api/v1/audit"));
      expect(audit.body.items).toMatchObject([{ action: "failure.discard", actor: "application" }]);
    }),
  );

  it("a body is validated, and one that is too large is refused", () =>
    withEmbeddedAdmin("sqlite", everyone, async (test) => {
      const post = (body: string) =>
        ask(test, "/api/v1/oauth/states", {
          ...{ method: "POST", body },
          headers: { ...SAME_ORIGIN, "content-type": "application/json" },
        });
      expect((await post(JSON.stringify({ state: "0123456789abcdef" }))).status).toBe(201);
      expect((await post(JSON.stringify({ state: 7 }))).status).toBe(400);
      expect((await post(JSON.stringify({ state: "x".repeat(2_000_000) }))).status).toBe(413);
    }));
});

describe("a long response of the admin API in an application", () => {
  it("the live stream sends events as they come, and its work ends when the reader leaves", async () => {
    const { test } = shared;
    const response = await ask(test, "/api/v1/live", operator);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toContain("no-transform");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toContain("event: tally");
    await reader.cancel();
    const streams = await Promise.all(Array.from({ length: 32 }, () => ask(test, "/api/v1/live", operator)));
    expect(streams.some(({ status }) => status === 200)).toBe(true);
    expect((await ask(test, "/api/v1/live", operator)).status).toBe(503);
    // A stream whose reader has left gives its place back.
    await Promise.all(streams.map(({ body }) => body?.cancel()));
    await until(async () => (await ask(test, "/api/v1/live", operator)).status === 200);
  });

  it("the live stream ends when the request is aborted, and when the receiver closes", () =>
    withEmbeddedAdmin("sqlite", everyone, async (test) => {
      const over = new AbortController();
      const aborted = await ask(test, "/api/v1/live", { signal: over.signal });
      over.abort();
      await expect(aborted.text()).rejects.toThrow();
      const open = await ask(test, "/api/v1/live", operator);
      const text = open.text();
      await test.admin.close();
      expect(await text).not.toContain("error");
    }));

  it("an export streams every callback, and its work ends when the reader leaves", async () => {
    const { test } = shared;
    const response = await ask(test, "/api/v1/callbacks/export", operator);
    expect(response.headers.get("content-disposition")).toContain("attachment");
    const ids = (await response.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).event_id);
    expect(ids).toEqual([FAILED, HANDLED]);
    // Four may run; one that its reader left frees its place.
    const left = await Promise.all(Array.from({ length: 4 }, () => ask(test, "/api/v1/callbacks/export", operator)));
    for (const { body } of left) await body?.cancel();
    await until(async () => (await ask(test, "/api/v1/callbacks/export", operator)).status === 200);
  });
});

describe("the page under a path of an application", () => {
  const htmlOf = async (test: EmbeddedAdminTest, path: string, basePath: string) => {
    const response = await ask(test, path, { basePath, headers: { ...operator.headers, accept: "text/html" } });
    return { response, html: await response.text() };
  };
  const assetsOf = (html: string) => [...html.matchAll(/(?:src|href)="([^"]*\/assets\/[^"]+)"/g)].map(([, at]) => at);

  it.each([MOUNT, "", "/a/b-c.d/~e"])(
    "the page and its files are below %j, at every depth and without a slash",
    async (base) => {
      const { test } = shared;
      for (const path of ["", "/", "/callbacks?status=5xx", `/events/platform/${FAILED}`]) {
        const { response, html } = await htmlOf(test, path, base);
        expect([path, response.status]).toEqual([path, 200]);
        const assets = assetsOf(html);
        expect(assets.length).toBeGreaterThan(2);
        expect(assets.filter((at) => !at?.startsWith(`${base}/assets/`))).toEqual([]);
        expect(html).toContain(`name="oncehook-base-path" content="${base}"`);
        expect(html).not.toMatch(/PAGE_|CSP_NONCE/);
      }
    },
  );

  it("the page's policy is as strict as the server's", async () => {
    const { test } = shared;
    const { response } = await htmlOf(test, "/", MOUNT);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w-]{22}';/);
    expect(policy).toContain("base-uri 'none'; form-action 'self'; frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|http/);
  });

  it("files are immutable and compressed, HEAD has only the headers, and an unknown address returns 404", async () => {
    const { test } = shared;
    const { html } = await htmlOf(test, "/", MOUNT);
    const asset =
      assetsOf(html)
        .find((at) => at?.endsWith(".js"))
        ?.slice(MOUNT.length) ?? "";
    const file = await ask(test, asset, { headers: { ...operator.headers, "accept-encoding": "br" } });
    expect([file.status, file.headers.get("content-encoding")]).toEqual([200, "br"]);
    expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const head = await ask(test, "/", { ...operator, method: "HEAD" });
    expect([head.status, head.headers.get("content-type"), head.body]).toEqual([200, "text/html; charset=utf-8", null]);
    expect((await ask(test, "/call-backs", operator)).status).toBe(404);
    expect((await ask(test, "/assets/none.js", operator)).status).toBe(404);
  });

  it("an id of dots and slashes is found below the path", async () => {
    const { test } = shared;
    const { status, body } = await json(ask(test, "/api/v1/events/platform/~..", operator));
    expect([status, body.error]).toEqual([404, expect.stringContaining("event")]);
  });

  it("a request outside of the path returns 404 and names the option in the log", async () => {
    const { admin, lines } = shared.test;
    for (const path of ["/admin/webhooksX", "/admin", "/"]) {
      const response = await admin.fetch(new Request(ORIGIN + path), { basePath: MOUNT });
      expect([path, response.status]).toEqual([path, 404]);
    }
    expect(lines.some(({ msg }) => String(msg).includes("basePath"))).toBe(true);
  });

  it.each(["admin", "/a//b", '/a"b', "/a<b", "//evil.example"])("a basePath of %j is refused", async (basePath) => {
    const { admin } = shared.test;
    await expect(admin.fetch(new Request(ORIGIN), { basePath })).rejects.toThrow("basePath: got");
  });
});

it("two receivers of one application show each its own events, to its own people", () =>
  withEmbeddedAdmin("sqlite", byCookie, (first) =>
    withEmbeddedAdmin("sqlite", everyone, async (second) => {
      await ask(second, `/api/v1/failures/platform/${FAILED}`, { method: "DELETE", headers: SAME_ORIGIN });
      expect((await ask(first, "/api/v1/failures")).status).toBe(403);
      const failures = async (test: EmbeddedAdminTest) =>
        (await json(ask(test, "/api/v1/failures", { headers: withRole("viewer") }))).body.items;
      expect(await failures(first)).toHaveLength(1);
      expect(await failures(second)).toEqual([]);
    }),
  ));
