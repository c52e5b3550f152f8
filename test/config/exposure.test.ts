import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { BASE, JWT, KEY, PRODUCTION, problems } from "../support/configuration.ts";

const key = (bytes: Iterable<number>) => Buffer.from([...bytes]).toString("base64");
const counting = Array.from({ length: 32 }, (_, index) => index);
const HOOK = { NOTIFY_WEBHOOK_URL: "https://hooks.example.com/x" };
const OF_32_BYTES = "a-signing-secret-of-32-bytes-ok!";

describe("production", () => {
  it.each<[string, Record<string, string>, string]>([
    ["one character over and over", { SIGNING_SECRET: "x".repeat(40) }, "one character over and over"],
    ["two characters", { SIGNING_SECRET: "abbabaabbaababba".repeat(3) }, "only 2 different characters"],
    ["a repeated word", { SIGNING_SECRET: "production-".repeat(4) }, "a repeated pattern"],
    ["digits that are repeated", { ADMIN_TOKEN: "0123456789abcdef0123456789abcdef" }, "a repeated pattern"],
    ["a sequence", { ADMIN_TOKEN: "abcdefghijklmnopqrstuvwxyz123456" }, "a sequence"],
    ["changeme", { SIGNING_SECRET: "changeme-changeme-before-production!" }, "a placeholder"],
    ["Change-Me in any spelling", { ADMIN_TOKEN: "please_Change-Me_0815_now" }, "a placeholder"],
    ["your-secret-here", { SIGNING_SECRET: "your-secret-here-with-32-bytes-of-it" }, "a placeholder"],
    ["an unexpanded variable", { ADMIN_TOKEN: "{{admin_token_of_the_production}}" }, "a placeholder"],
    ["the name of a variable", { ADMIN_TOKEN: "PRODUCTION_ADMIN_TOKEN" }, "a placeholder"],
    ["angle brackets", { ADMIN_TOKEN: "<the-token-of-our-admin>" }, "a placeholder"],
    ["a viewer's password", { ADMIN_VIEWER_TOKEN: "Passw0rd-for-viewers" }, "a placeholder"],
    ["an all-zero key", { ENCRYPTION_KEY: key(Buffer.alloc(32)) }, "zeros alone"],
    ["a key of one byte", { ENCRYPTION_KEY: key(Buffer.alloc(32, 7)) }, "one character over and over"],
    ["a key of few bytes", { ENCRYPTION_KEY: key(counting.map((at) => (at * at) % 7)) }, "different characters"],
    ["a key that counts", { ENCRYPTION_KEY: key(counting) }, "a sequence"],
    ["a key of words", { ENCRYPTION_KEY: key(Buffer.from("change-me-change-it-32-bytes-!!!")) }, "a placeholder"],
    ["the key of the documentation", { ...HOOK, NOTIFY_WEBHOOK_SECRET: `whsec_${key(Buffer.alloc(32, 3))}` }, "one"],
    ["a JWT secret", { JWT_SECRET: "replace-this-secret-before-you-start" }, "a placeholder"],
    ["a client secret", { OAUTH_CLIENT_SECRET: "changeme" }, "a placeholder, expected the secret that the platform"],
  ])("production refuses a secret that can be guessed: %s", (_, env, says) => {
    const [name = ""] = Object.keys(env).slice(-1);
    const found = problems({ ...PRODUCTION, ...env });
    expect(found).toEqual([expect.stringContaining(`${name}: got `)]);
    expect(found[0]).toContain(says);
    expect(found[0]).not.toContain(env[name]);
  });

  it("production accepts every random secret, in the usual encodings", () => {
    for (let run = 0; run < 50; run += 1) {
      const env = {
        SIGNING_SECRET: randomBytes(32).toString("hex"),
        ADMIN_TOKEN: randomBytes(24).toString("hex"),
        ADMIN_VIEWER_TOKEN: randomBytes(12).toString("base64url"),
        ENCRYPTION_KEY: randomBytes(32).toString("base64"),
      };
      expect(problems({ ...PRODUCTION, ...env })).toEqual([]);
    }
  });

  it.each([
    ["two braces", "7b7b"],
    ["a dollar and a brace", "247b61"],
  ])("production accepts random bytes for a key that hold %s", (_, hex) => {
    const bytes = Buffer.from(counting.map((at) => (at * 97 + 131) % 256));
    bytes.write(hex, 7, "hex");
    expect(problems({ ...PRODUCTION, ENCRYPTION_KEY: bytes.toString("base64") })).toEqual([]);
  });

  it("production accepts a secret of exactly 32 bytes", () => {
    expect(problems({ ...PRODUCTION, SIGNING_SECRET: OF_32_BYTES })).toEqual([]);
    expect(problems({ ...PRODUCTION, SIGNING_SECRET: OF_32_BYTES.slice(1) })).toEqual([
      expect.stringContaining("got a value of 31 bytes, expected at least 32 bytes"),
    ]);
    expect(problems({ ...BASE, SIGNING_SECRET: OF_32_BYTES.slice(16) })).toEqual([]);
    expect(problems({ ...BASE, ...JWT, JWT_SECRET: OF_32_BYTES })).toEqual([]);
    expect(problems({ ...BASE, ...JWT, JWT_SECRET: OF_32_BYTES.slice(1) })).toHaveLength(1);
  });

  it("production accepts a weak secret that is being rotated out, with a warning", () => {
    const { warnings } = loadConfig({ ...PRODUCTION, SIGNING_SECRET_PREVIOUS: "changeme-changeme" });
    expect(warnings).toEqual([
      expect.stringMatching(/^SIGNING_SECRET_PREVIOUS: got a placeholder, .* remove it once it is rotated out$/),
    ]);
  });

  it.each([
    [{ NODE_TLS_REJECT_UNAUTHORIZED: "0" }, "switches off the verification of every certificate"],
    [{ NODE_OPTIONS: "--max-old-space-size=512 --insecure-http-parser" }, "hide in another one"],
    [{ OAUTH_SUCCESS_URL: "http://app.example.com/done" }, "expected an https address"],
    [{ OAUTH_REDIRECT_URI: "http://pay.example.com/api/x/oauth-callback" }, "expected an https address"],
    [{ ADMIN_HOST: "0.0.0.0" }, "set ADMIN_ALLOW_PLAIN_HTTP=true"],
    [{ ADMIN_HOST: "::" }, "set ADMIN_ALLOW_PLAIN_HTTP=true"],
    [{ ADMIN_HOST: "10.0.0.5", ADMIN_BASE_URL: "https://admin.example.com" }, "speaks plain HTTP"],
  ])("production refuses to start with %j", (env, says) => {
    const [name] = Object.keys(env);
    expect(problems({ ...PRODUCTION, ...env })).toEqual([expect.stringMatching(`^${name}: got .*${says}`)]);
  });

  it("production accepts an admin listener on every address with ADMIN_ALLOW_PLAIN_HTTP", () => {
    const { admin, warnings } = loadConfig({
      ...PRODUCTION,
      ADMIN_HOST: "0.0.0.0",
      ADMIN_ALLOW_PLAIN_HTTP: "true",
    });
    expect([admin.host, warnings]).toEqual(["0.0.0.0", []]);
  });

  it.each([
    ["0.0.0.0/0", "100 % of all IPv4"],
    ["0.0.0.0/1,128.0.0.0/1", "100 % of all IPv4"],
    ["10.0.0.0/8, 64.0.0.0/2, 0.0.0.0/2, 128.0.0.0/1", "100 % of all IPv4"],
    ["192.0.2.0/24,1.2.3.4/0", "100 % of all IPv4"],
    ["128.0.0.0/4", "6 % of all IPv4"],
    ["::ffff:0:0/96", "100 % of all IPv4"],
    ["::ffff:128.0.0.0/97", "50 % of all IPv4"],
    ["::/0", "100 % of all IPv4"],
    ["2000::/3", "12 % of all IPv6"],
    ["8000::/1,::1", "50 % of all IPv6"],
  ])("production refuses proxies or notifications in networks that hold everyone: %s", (networks, says) => {
    for (const name of ["TRUST_PROXY", "NOTIFY_ALLOW_ADDRESSES"])
      expect(problems({ ...PRODUCTION, [name]: networks })).toEqual([
        expect.stringMatching(`^${name}: got networks with ${says}`),
      ]);
  });

  it("production accepts every private network among its proxies, also repeated", () => {
    const networks = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,127.0.0.0/8,::1,fc00::/7,fe80::/10";
    const env = { TRUST_PROXY: Array(20).fill(networks).join(","), NOTIFY_ALLOW_ADDRESSES: networks };
    expect(problems({ ...PRODUCTION, ...env })).toEqual([]);
  });
});

describe("development", () => {
  const OPEN = {
    SIGNING_SECRET: "changeme-changeme",
    NODE_TLS_REJECT_UNAUTHORIZED: "0",
    ADMIN_HOST: "0.0.0.0",
    TRUST_PROXY: "0.0.0.0/0",
    OAUTH_SUCCESS_URL: "http://localhost:3000/done",
  };

  it("development accepts what production refuses, with a warning except for plain HTTP of its own pages", () => {
    const { warnings } = loadConfig({ ...BASE, ENCRYPTION_KEY: KEY, ...OPEN });
    expect(warnings.map((text) => text.split(":")[0])).toEqual([
      "SIGNING_SECRET",
      "NODE_TLS_REJECT_UNAUTHORIZED",
      "TRUST_PROXY",
      "ADMIN_HOST",
    ]);
  });

  it("APP_ENV=test has no warnings, since the secrets of tests are constant", () => {
    expect(loadConfig({ ...BASE, ...OPEN, APP_ENV: "test" }).warnings).toEqual([]);
  });
});
