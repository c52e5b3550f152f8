import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toAdminHandler } from "../../src/embed/admin-node-handler.ts";
import { FAILED, lentEmbeddedAdmin, withEmbeddedAdmin } from "../support/embedded-admin.ts";
import { until } from "../support/until.ts";

const MOUNT = "/admin/webhooks";
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const shared = lentEmbeddedAdmin({
  authorize: (_request, native: IncomingMessage & { user?: "operator" }) => native.user ?? "operator",
});
beforeAll(shared.begin);
afterAll(shared.end);

type Mounted = IncomingMessage & { originalUrl?: string; body?: unknown };

/** Takes the mount off the address, as Express and Connect do. */
function mounted(handle: (request: IncomingMessage, response: ServerResponse) => void): RequestListener {
  return (request: Mounted, response) => {
    request.originalUrl = request.url ?? "";
    const rest = request.originalUrl.slice(MOUNT.length);
    request.url = rest.startsWith("/") ? rest : `/${rest}`;
    handle(request, response);
  };
}

async function withServer<T>(listener: RequestListener, use: (origin: string) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Reads the body and leaves it in `body`, as `express.json()` does. */
async function parsed(request: Mounted): Promise<Mounted> {
  const pieces = await request.toArray();
  const text = Buffer.concat(pieces).toString();
  if (text !== "") request.body = JSON.parse(text);
  return request;
}

describe("toAdminHandler", () => {
  it("the page is below the path that the framework took off, with and without a slash", () =>
    withServer(mounted(toAdminHandler(shared.test)), async (origin) => {
      for (const path of [MOUNT, `${MOUNT}?a=1`, `${MOUNT}/`, `${MOUNT}/callbacks?status=5xx`]) {
        const response = await fetch(origin + path);
        expect([path, response.status]).toEqual([path, 200]);
        expect(await response.text()).toContain(`src="${MOUNT}/assets/`);
      }
    }));

  it("basePath names the path where no framework takes it off", () =>
    withServer(toAdminHandler(shared.test, { basePath: MOUNT }), async (origin) => {
      expect(await (await fetch(`${origin}${MOUNT}/failures`)).text()).toContain(`src="${MOUNT}/assets/`);
      expect((await fetch(`${origin}/failures`)).status).toBe(404);
      const head = await fetch(origin + MOUNT, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
    }));

  it("the page's policy takes the place of the application's", () =>
    withServer(
      mounted((request, response) => {
        response.setHeader("Content-Security-Policy", "default-src 'self' https:");
        toAdminHandler(shared.test)(request, response);
      }),
      async (origin) => {
        const policy = (await fetch(origin + MOUNT)).headers.get("content-security-policy");
        expect(policy).toContain("default-src 'none'; script-src 'self'");
      },
    ));

  it.each([
    ["unread", undefined],
    ["parsed by the application before", parsed],
  ])("a change whose body is %s is made", (_, parse) => {
    const handle = toAdminHandler(shared.test);
    const listener = mounted((request, response) => {
      if (parse === undefined) handle(request, response);
      else void parse(request).then((read) => handle(read, response));
    });
    return withServer(listener, async (origin) => {
      const response = await fetch(`${origin}${MOUNT}/api/v1/oauth/states`, {
        method: "POST",
        headers: { ...SAME_ORIGIN, "content-type": "application/json" },
        body: JSON.stringify({ state: `state-of-sixteen-${String(_)}`.replaceAll(" ", "-") }),
      });
      expect([response.status, await response.json()]).toEqual([201, { expires_at: expect.any(String) }]);
    });
  });

  it("a body that was read and thrown away is refused, and the error says what to do", () => {
    const errors: unknown[] = [];
    const listener = mounted((request, response) => {
      const next = (error: unknown) => {
        errors.push(error);
        response.writeHead(500).end();
      };
      request.resume().once("end", () => toAdminHandler(shared.test)(request, response, next));
    });
    return withServer(listener, async (origin) => {
      const sent = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
      expect((await fetch(`${origin}${MOUNT}/api/v1/oauth/states`, sent)).status).toBe(500);
      expect(String(errors[0])).toContain("mount the admin page before the parser");
    });
  });

  it.each([2, 3_000_000])("a change that is refused gets its response, its body of %i bytes unread", (length) =>
    withServer(mounted(toAdminHandler(shared.test)), async (origin) => {
      const url = `${origin}${MOUNT}/api/v1/failures/platform/${FAILED}/replay`;
      const headers = { "sec-fetch-site": "cross-site", "content-type": "application/json" };
      for (let sent = 0; sent < 5; sent += 1) {
        const response = await fetch(url, { method: "POST", headers, body: "x".repeat(length) });
        expect([response.status, await response.json()]).toEqual([403, { error: expect.any(String) }]);
      }
    }),
  );

  it("authorize gets Node's request, with what the application's middlewares have put there", () =>
    withEmbeddedAdmin(
      "sqlite",
      { authorize: (_request, native: IncomingMessage & { user?: string }) => ({ role: "viewer", name: native.user }) },
      (test) => {
        const listener = mounted((request, response) => {
          toAdminHandler(test)(Object.assign(request, { user: "ada@shop.example" }), response);
        });
        return withServer(listener, async (origin) => {
          const session = await fetch(`${origin}${MOUNT}/api/v1/session`);
          expect(await session.json()).toMatchObject({ actor: "ada@shop.example", role: "viewer" });
        });
      },
    ));

  it("a live stream arrives event by event, and its work ends when the client leaves", () =>
    withServer(mounted(toAdminHandler(shared.test)), async (origin) => {
      const live = `${origin}${MOUNT}/api/v1/live`;
      const over = new AbortController();
      const streams = await Promise.all(Array.from({ length: 32 }, () => fetch(live, { signal: over.signal })));
      const { value } = (await streams[0]?.body?.getReader().read()) ?? {};
      expect(new TextDecoder().decode(value)).toContain("event: tally");
      expect((await fetch(live)).status).toBe(503);
      over.abort();
      await until(async () => {
        const again = await fetch(live);
        await again.body?.cancel();
        return again.status === 200;
      });
    }));

  it("a malformed host name and an unknown method get a response", () =>
    withServer(mounted(toAdminHandler(shared.test)), async (origin) => {
      const { port } = new URL(origin);
      const { request } = await import("node:http");
      const statusOf = async (options: object) => {
        const sent = request({ port, path: MOUNT, ...options }).end();
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        response.resume();
        return response.statusCode;
      };
      expect(await statusOf({ headers: { host: "a b" } })).toBe(200);
      expect(await statusOf({ method: "TRACE" })).toBe(405);
    }));

  it("an event is found by an id that its address has to encode", () =>
    withServer(mounted(toAdminHandler(shared.test)), async (origin) => {
      const found = await fetch(`${origin}${MOUNT}/api/v1/events/platform/${FAILED.replace("-", "%2D")}`);
      expect([found.status, ((await found.json()) as { failure?: { event_id: string } }).failure?.event_id]).toEqual([
        200,
        FAILED,
      ]);
    }));
});
