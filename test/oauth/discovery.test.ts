import type { RequestListener } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { createPlatform, type Platform } from "../../src/oauth/index.ts";
import { createDiscovery } from "../../src/oauth/platform.ts";
import { withHttpServer, withHttpsServer } from "../support/http-server.ts";
import { until } from "../support/until.ts";

afterEach(() => {
  vi.useRealTimers();
});

interface Discovery {
  readonly platform: Platform;
  readonly asked: string[];
}

function withDiscovery(
  use: (discovery: Discovery) => Promise<void>,
  answer: (origin: string, path: string) => object | number | "never",
  { requireHttps = false, secure = false } = {},
): Promise<void> {
  const asked: string[] = [];
  let origin = "";
  const listener: RequestListener = (request, response) => {
    asked.push(request.url ?? "");
    const answered = answer(origin, request.url ?? "");
    if (answered === "never") return;
    if (typeof answered === "number") return void response.writeHead(answered).end();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answered));
  };
  const lend = secure ? withHttpsServer : withHttpServer;
  return lend(listener, async (at) => {
    origin = at;
    const settings = {
      issuer: at,
      authorizationUrl: null,
      tokenUrl: null,
      revocationUrl: null,
      clientId: "us",
      clientSecret: "secret",
      scope: "openid",
    };
    await use({ platform: createPlatform(settings, requireHttps), asked });
  });
}

it("a discovery is shared by all who wait for it, and kept", () =>
  withDiscovery(
    async ({ platform, asked }) => {
      const found = await Promise.all(Array.from({ length: 50 }, () => platform.server()));
      expect(new Set(found).size).toBe(1);
      await platform.server();
      expect(asked).toHaveLength(1);
    },
    (issuer) => ({ issuer, token_endpoint: `${issuer}/token` }),
  ));

it("a server that cannot be discovered is left alone for a while", () =>
  withDiscovery(
    async ({ platform, asked }) => {
      for (let turn = 0; turn < 20; turn += 1) await expect(platform.server()).rejects.toThrow();
      expect(asked).toHaveLength(1);
    },
    () => 503,
  ));

it("a server without OpenID Connect is discovered by RFC 8414", () =>
  withDiscovery(
    async ({ platform, asked }) => {
      expect(await platform.server()).toMatchObject({ token_endpoint: expect.stringMatching(/token$/) });
      expect(asked).toEqual(["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"]);
    },
    (issuer, path) => (path.endsWith("server") ? { issuer, token_endpoint: `${issuer}/token` } : 404),
  ));

it("a discovery over plain HTTP is refused where https is required", () =>
  withDiscovery(
    async ({ platform, asked }) => {
      await expect(platform.server()).rejects.toThrow(/HTTP/i);
      expect(asked).toEqual([]);
    },
    (issuer) => ({ issuer }),
    { requireHttps: true },
  ));

it.each(["authorization_endpoint", "token_endpoint", "revocation_endpoint", "userinfo_endpoint"])(
  "a %s over plain HTTP is refused where https is required, though it was discovered over https",
  (name) =>
    withDiscovery(
      async ({ platform }) => {
        await expect(platform.server()).rejects.toThrow(
          `names a ${name} that is not https: http://169.254.169.254/endpoint`,
        );
      },
      (issuer) => ({
        issuer,
        token_endpoint: `${issuer}/token`,
        [name]: "http://169.254.169.254/endpoint",
      }),
      { requireHttps: true, secure: true },
    ),
);

it("a server that could not be discovered is asked again after five seconds, and not before", () =>
  withDiscovery(
    async ({ platform, asked }) => {
      vi.useFakeTimers({ toFake: ["performance"] });
      const askedAfter = async (ms: number) => {
        vi.advanceTimersByTime(ms);
        await platform.server().catch(() => {});
        return asked.length;
      };
      expect([await askedAfter(0), await askedAfter(4_999), await askedAfter(1)]).toEqual([1, 1, 2]);
    },
    () => 503,
  ));

it("a discovery of an hour ago serves at once, while it is looked up again", () => {
  let version = 1;
  return withDiscovery(
    async ({ platform, asked }) => {
      vi.useFakeTimers({ toFake: ["performance"] });
      const endpoint = async () => (await platform.server()).token_endpoint?.slice(-2);
      expect(await endpoint()).toBe("t1");
      version = 2;
      vi.advanceTimersByTime(3_599_999);
      expect([await endpoint(), asked.length]).toEqual(["t1", 1]);
      vi.advanceTimersByTime(1);
      expect(await endpoint()).toBe("t1");
      await until(async () => (await endpoint()) === "t2");
      expect(asked).toHaveLength(2);
    },
    (issuer) => ({ issuer, token_endpoint: `${issuer}/t${version}` }),
  );
});

it("a discovery that cannot be looked up again goes on serving, and its server is asked every five seconds", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let asked = 0;
  const discovered = createDiscovery(async () => {
    asked += 1;
    if (asked > 1) throw new Error("away");
    return { issuer: "https://platform.example" };
  });
  const known = await discovered();
  for (const [after, times] of [
    [3_600_000, 2],
    [4_999, 2],
    [1, 3],
  ] as const) {
    vi.advanceTimersByTime(after);
    expect(await discovered()).toBe(known);
    // The look-up that this has begun ends.
    await nextTurn();
    expect(asked).toBe(times);
  }
});
