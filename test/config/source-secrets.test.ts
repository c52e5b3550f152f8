import { describe, expect, it } from "vitest";
import { ConfigError, compareEnvironments, loadConfig } from "../../src/config/index.ts";
import { custom, hmac, livekit, shopify, stripe } from "../../src/sources/presets/index.ts";
import { BASE, PRODUCTION } from "../support/configuration.ts";

const own = { id: "body.id", type: "body.type" };
const signature = { header: "X-Acme", encoding: "hex" } as const;

const WRONG: readonly [string, string, string][] = [
  ["of a variable that is not set", "undefined", 'the text "undefined", as of a variable that is not set'],
  ["null as a text", "null", 'the text "null", as of a variable that is not set'],
  ["one character", "x", "a length of 1"],
  ["nine characters", "s3cr3t-4u", "a length of 9"],
  ["a placeholder", "changeme", "a placeholder"],
  ["a longer placeholder", "Change-Me-In-Production-0815", "a placeholder"],
  ["the source's name", "acme-invoices", "the name of its source or tenant"],
  ["one character over and over", "a".repeat(32), "only 1 different characters"],
  ["a placeholder behind whsec_", "v1,whsec_changeme", "a placeholder"],
];

function problems(env: Record<string, string>, sources: Parameters<typeof loadConfig>[1] = {}) {
  try {
    return { warnings: loadConfig(env, sources).warnings };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems };
    throw error;
  }
}

describe("the secret of a source", () => {
  it.each(WRONG)("production refuses %s, and development warns", (_case, secret, got) => {
    const sources = { "acme-invoices": hmac({ ...own, secret, signature, signed: "{body}" }) };
    const message = `sources.acme-invoices: secret: got ${got}, expected the secret that the platform shows`;
    expect(problems(PRODUCTION, { sources }).problems).toEqual([
      expect.stringMatching(/\. Production does not start with it$/),
    ]);
    expect(problems(PRODUCTION, { sources }).problems?.[0]).toContain(message);
    expect(problems(BASE, { sources }).warnings?.some((text) => text.startsWith(message))).toBe(true);
    expect(problems({ ...BASE, APP_ENV: "test" }, { sources }).warnings).toEqual([]);
  });

  it("production refuses a weak secret of custom, of a rotation and of SOURCES, and names which one", () => {
    const right = "shpss_3b2f8c1d7e6a4905";
    const sources = {
      legacy: custom({ ...own, verify: () => true, secret: "null" }),
      shop: shopify({ secret: [right, "undefined"] }),
    };
    const env = { ...PRODUCTION, SOURCES: "stripe", STRIPE_SECRET: "undefined" };
    expect(problems(env, { sources }).problems).toEqual([
      expect.stringMatching(/^sources\.legacy: secret: got the text "null"/),
      expect.stringMatching(/^sources\.shop: secret 2 of 2: got the text "undefined"/),
      expect.stringMatching(/^STRIPE_SECRET: got the text "undefined"/),
    ]);
  });

  it("a short secret that is rotated out, or a verify token, is warned of in production", () => {
    const sources = { shop: shopify({ secret: ["shpss_3b2f8c1d7e6a4905", "short"] }) };
    expect(problems(PRODUCTION, { sources }).warnings).toEqual([
      expect.stringMatching(/^sources\.shop: secret 2 of 2: got a length of 5/),
    ]);
  });

  it.each([
    ["Dropbox's app secret", "k7w2mfh0q9zt3bx"],
    ["LinkedIn's client secret", "Xq81LkZp0vTn4mBc"],
    ["Twitch's shortest", "7hTq2LkZ0v"],
    ["Zoom's secret token", "Bd8Rk2mTQeiVwK3xnGh41A"],
    ["Stripe's signing secret", "whsec_Z8sK4vTn1mQx7LpR2bWc9dYf3gHj6kEt"],
    ["Shopify's client secret", "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"],
  ])("production takes what platforms give out: %s", (_case, secret) => {
    const sources = { acme: hmac({ ...own, secret, signature, signed: "{body}" }) };
    expect(problems(PRODUCTION, { sources })).toHaveProperty("warnings");
  });

  it("a secret in quotation marks or beside an empty one is refused in every environment", () => {
    expect(() => livekit({ apiKey: "APIcR6NxGcRnNjh", secret: "" })).toThrow(TypeError);
    expect(() => stripe({ secret: undefined })).toThrow(/got none, expected what the platform shows/);
  });
});

describe("comparing the secrets of sources", () => {
  const files = (one: Record<string, string>, other: Record<string, string>) => [
    { name: ".env.test", values: { APP_ENV: "test", ...one } },
    { name: ".env.production", values: { APP_ENV: "production", ...other } },
  ];

  it.each([
    ["STRIPE_SECRET", "STRIPE_SECRET"],
    ["STRIPE_WEBHOOK_SECRET", "STRIPE_SECRET_PREVIOUS"],
    ["ADYEN_HMAC_KEY", "ADYEN_HMAC_KEY_OLD"],
    ["GITLAB_TOKEN", "HOOK_TOKEN"],
  ])("two environments that share a secret of a source are found: %s and %s", (one, other) => {
    expect(compareEnvironments(files({ [one]: "whsec_same" }, { [other]: "whsec_same" }))).toEqual([
      `.env.production and .env.test share one secret: ${other} equals ${one}; give each its own`,
    ]);
  });

  it("a secret of the loaded configuration is found whatever the name of its variable", () => {
    const both = files({ ACME_WORD: "the word of acme" }, { ACME_WORD: "the word of acme" });
    expect(compareEnvironments(both)).toEqual([]);
    expect(compareEnvironments(both, ["the word of acme"])).toHaveLength(1);
  });

  it("public keys and variables that hold no secret may be equal", () => {
    const values = {
      WISE_PUBLIC_KEY: "pem",
      CALLBACK_TOKEN_HEADER: "X-Token",
      OAUTH_TOKEN_URL: "https://a.example",
    };
    expect(compareEnvironments(files(values, values))).toEqual([]);
  });
});
