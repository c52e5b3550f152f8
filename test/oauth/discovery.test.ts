import type { RequestListener } from "node:http";
import { expect, it } from "vitest";
import { createPlatform, type Platform } from "../../src/oauth/index.ts";
import { withHttpServer, withHttpsServer } from "../support/http-server.ts";

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
