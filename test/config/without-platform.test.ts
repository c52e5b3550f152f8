import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { PRODUCTION } from "../support/configuration.ts";

const {
  SIGNING_SECRET: SECRET,
  OAUTH_TOKEN_URL: _url,
  OAUTH_CLIENT_ID: _id,
  OAUTH_CLIENT_SECRET: _secret,
  ...BARE
} = PRODUCTION;
const STRIPE = { SOURCES: "stripe", STRIPE_SECRET: "whsec_Z8sK4vTn1mQx7LpR2bWc9dYf3gHj6kEt" };
const NEEDED =
  "SIGNING_SECRET: is not set; in production the built-in protocol (`platform`) needs the secret that its sender shares";
const data = { "~standard": { version: 1, vendor: "test", validate: () => ({ value: {} }) } } as const;
const handlerOf = (type: string, source?: string) =>
  defineHandler({ type, data, handle: () => ({}), ...(source !== undefined && { source }) });

type File = Parameters<typeof loadConfig>[1];

function problems(env: Record<string, string>, file?: File): readonly string[] {
  try {
    loadConfig(env, file);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe("production without SIGNING_SECRET", () => {
  it.each<[string, Record<string, string>, File]>([
    ["SOURCES", { ...BARE, ...STRIPE }, {}],
    [
      "sources in oncehook.config.ts",
      BARE,
      { sources: { billing: stripe({ secret: "whsec_Z8sK4vTn1mQx7LpR2bWc9dYf3gHj6kEt" }) } },
    ],
  ])("production starts without the platform where %s names another source", (_, env, file) => {
    const config = loadConfig(env, file);
    expect(config.servesPlatform).toBe(false);
    expect(config.builtInHandlers).toEqual([]);
    expect(config.authentication.signing.secrets).toEqual([]);
  });

  it("production with SIGNING_SECRET serves the platform beside the other sources", () => {
    const config = loadConfig({ ...BARE, ...STRIPE, SIGNING_SECRET: SECRET, HANDLERS: "payment_notify" });
    expect(config.servesPlatform).toBe(true);
  });

  it("the error without any source names both ways", () => {
    expect(problems({ ...BARE, HANDLERS: "none" })).toEqual([
      `${NEEDED}, or other sources in its place (SOURCES, or \`sources\` in oncehook.config.ts)`,
    ]);
  });

  it("a handler of the platform needs its secret, whatever other sources there are", () => {
    const why = "which the handlers of order.paid are for";
    const file = { handlers: [handlerOf("order.paid"), handlerOf("invoice.paid", "stripe")] };
    expect(problems({ ...BARE, ...STRIPE }, file)).toEqual([`${NEEDED}, ${why}`]);
    expect(problems({ ...BARE, ...STRIPE }, { handlers: [handlerOf("invoice.paid", "stripe")] })).toEqual([]);
    expect(problems({ ...BARE, ...STRIPE, HANDLERS: "payment_notify" })).toEqual([
      `${NEEDED}, which the handlers of payment_notify are for`,
    ]);
  });

  it("a sign-in needs no signing secret: its redirects are known by their state", () => {
    const oauth = {
      OAUTH_TOKEN_URL: "https://a.example/token",
      OAUTH_CLIENT_ID: "a",
      OAUTH_CLIENT_SECRET: "b",
    };
    const config = loadConfig({ ...BARE, ...STRIPE, ...oauth, HANDLERS: "user_authorized" });
    expect([config.servesPlatform, config.builtInHandlers]).toEqual([false, ["user_authorized"]]);
  });

  it.each([
    ["AUTH_METHOD asks for it", { AUTH_METHOD: "hmac" }],
    ["the one before it is set", { SIGNING_SECRET_PREVIOUS: "a-previous-secret-of-32-bytes-or-more" }],
  ])("the secret is needed where %s", (_, env) => {
    expect(problems({ ...BARE, ...STRIPE, HANDLERS: "none", ...env })).toEqual([NEEDED]);
  });

  it("the platform is authenticated by another method where AUTH_METHOD says so", () => {
    const token = { AUTH_METHOD: "token", CALLBACK_TOKEN: "a-token-of-sixteen-characters-7f" };
    expect(loadConfig({ ...BARE, ...STRIPE, ...token, HANDLERS: "none" }).servesPlatform).toBe(true);
  });

  it.each(["test", "development"])("the platform is served in %s", (APP_ENV) => {
    const env = { ...BARE, ...STRIPE, SIGNING_SECRET: SECRET, APP_ENV };
    expect(loadConfig(env).servesPlatform).toBe(true);
  });
});
