import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { BASE, PRODUCTION, problems } from "../support/configuration.ts";

const OIDC = {
  ADMIN_BASE_URL: "https://admin.example.com/",
  ADMIN_OIDC_ISSUER: "https://login.example.com",
  ADMIN_OIDC_CLIENT_ID: "oncehook",
  ADMIN_OIDC_CLIENT_SECRET: "the-secret-of-the-client",
  ADMIN_OIDC_OPERATORS: "ada@example.com, ben@example.com",
};
const without = (name: keyof typeof OIDC) =>
  Object.fromEntries(Object.entries(OIDC).filter(([other]) => other !== name));

describe("the configuration of admin access", () => {
  it("the admin token is the only access by default, with sessions of twelve hours", () => {
    expect(loadConfig(BASE).admin).toEqual({
      host: "127.0.0.1",
      port: 8081,
      token: BASE.ADMIN_TOKEN,
      viewerToken: null,
      baseUrl: null,
      sessionHours: 12,
      oidc: null,
    });
  });

  it("a configured OpenID provider signs its operators in, and its secret is masked", () => {
    const config = loadConfig({ ...PRODUCTION, ...OIDC, ADMIN_VIEWER_TOKEN: "a-token-for-who-may-look" });
    expect(config.admin).toMatchObject({
      viewerToken: "a-token-for-who-may-look",
      baseUrl: "https://admin.example.com",
      oidc: {
        issuer: "https://login.example.com",
        scope: "openid email",
        claim: "email",
        operators: ["ada@example.com", "ben@example.com"],
        viewers: [],
      },
    });
    for (const secret of ["the-secret-of-the-client", "a-token-for-who-may-look"])
      expect(config.secretValues).toContain(secret);
  });

  it.each([
    [
      "ADMIN_OIDC_ISSUER",
      "ADMIN_OIDC_ISSUER: is not set, expected together with ADMIN_OIDC_CLIENT_ID, ADMIN_OIDC_CLIENT_SECRET",
    ],
    [
      "ADMIN_OIDC_CLIENT_SECRET",
      "ADMIN_OIDC_CLIENT_SECRET: is not set, expected together with ADMIN_OIDC_ISSUER, ADMIN_OIDC_CLIENT_ID",
    ],
    [
      "ADMIN_BASE_URL",
      "ADMIN_BASE_URL: is not set, expected with ADMIN_OIDC_ISSUER: the provider sends operators back to <ADMIN_BASE_URL>/sign-in/oidc/callback",
    ],
    [
      "ADMIN_OIDC_OPERATORS",
      "ADMIN_OIDC_OPERATORS, ADMIN_OIDC_VIEWERS: neither is set, expected one of them with ADMIN_OIDC_ISSUER: no operator could sign in",
    ],
  ] as const)("an incomplete OpenID provider is refused with what is missing without %s", (name, problem) => {
    expect(problems({ ...BASE, ...without(name) })).toEqual([problem]);
  });

  it.each([
    [{ ADMIN_OIDC_VIEWERS: "ada" }, "ADMIN_OIDC_VIEWERS: is set without ADMIN_OIDC_ISSUER, expected both"],
    [
      { ADMIN_BASE_URL: "https://example.com/admin" },
      'ADMIN_BASE_URL: got "https://example.com/admin", expected an http(s) address without a path',
    ],
    [{ ADMIN_OIDC_SCOPES: "email" }, 'ADMIN_OIDC_SCOPES: got "email", expected scopes with openid among them'],
    [{ ADMIN_SESSION_HOURS: "0" }, 'ADMIN_SESSION_HOURS: got "0", expected a whole number from 1 to 720'],
    [{ ADMIN_VIEWER_TOKEN: "short" }, "ADMIN_VIEWER_TOKEN: got a value of 5 bytes, expected at least 16"],
    [{ ADMIN_VIEWER_TOKEN: BASE.ADMIN_TOKEN }, "ADMIN_VIEWER_TOKEN: is the same as ADMIN_TOKEN"],
    [{ ADMIN_OIDC_OPERATORS: " , " }, 'ADMIN_OIDC_OPERATORS: got " , ", expected values of the claim'],
  ])("an invalid admin setting is refused with what is expected: %o", (env, problem) => {
    expect(problems({ ...BASE, ...env })).toEqual([expect.stringContaining(problem)]);
  });

  it("production requires https for the provider and for every ADMIN_BASE_URL except a loopback one", () => {
    const plain = {
      ADMIN_BASE_URL: "http://admin.example.com",
      ADMIN_OIDC_ISSUER: "http://login.example.com",
    };
    expect(problems({ ...PRODUCTION, ...OIDC, ...plain })).toEqual([
      'ADMIN_OIDC_ISSUER: got "http://login.example.com", expected an https address in production',
      'ADMIN_BASE_URL: got "http://admin.example.com", expected an https address in production: sessions would cross the network in clear',
    ]);
    expect(problems({ ...PRODUCTION, ...OIDC, ADMIN_BASE_URL: "http://localhost:8081" })).toEqual([]);
    expect(problems({ ...BASE, ...OIDC, ...plain })).toEqual([]);
  });
});
