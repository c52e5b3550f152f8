import { expect, it } from "vitest";
import { loadConfig, startsFlows } from "../../src/config/index.ts";
import { KEY } from "../support/configuration.ts";

const BASE = {
  SIGNING_SECRET: "a-production-secret-of-32-bytes-or-more",
  ENCRYPTION_KEY: KEY,
  ADMIN_TOKEN: "an-admin-token-long-enough",
  CALLBACK_BASE_URL: "https://pay.example.com",
  TRUST_PROXY: "10.0.0.0/8",
  HANDLERS: "payment_notify",
};
const CLIENT = { OAUTH_CLIENT_ID: "us", OAUTH_CLIENT_SECRET: "secret-of-ours" };

it.each([
  ["the sandbox platform in development", {}, true],
  ["no platform in production, where there is no sandbox", { APP_ENV: "production" }, false],
  ["an issuer", { APP_ENV: "production", ...CLIENT, OAUTH_ISSUER: "https://platform.example" }, true],
  ["a token endpoint alone", { APP_ENV: "production", ...CLIENT, OAUTH_TOKEN_URL: "https://p.example/t" }, false],
])("flows start here, or not, with %s", (_title, env, starts) => {
  expect(startsFlows(loadConfig({ ...BASE, ...env }))).toBe(starts);
});
