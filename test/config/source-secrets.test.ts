import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ConfigError, compareEnvironments, loadConfig } from "../../src/config/index.ts";
import { issuedWeakness } from "../../src/sources/index.ts";
import { custom, hmac, livekit, shopify, stripe } from "../../src/sources/platforms/index.ts";
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
  ["one character over and over", "a".repeat(32), "one character over and over"],
  ["a repeated pattern", "deadbeefdeadbeef", "a repeated pattern"],
  ["a placeholder behind whsec_", "v1,whsec_changeme", "a placeholder"],
];

/** Texts whose `§` is a dollar: the linter takes them for templates otherwise. */
const MEANT_OTHERWISE: Readonly<Record<string, string>> = {
  "a variable that is not expanded":
    "§{STRIPE_SECRET} §STRIPE_SECRET {{STRIPE_SECRET}} §{{secrets.STRIPE_SECRET}} %STRIPE_SECRET% STRIPE_SECRET WISE_PUBLIC_KEY whsec_§{STRIPE_SECRET} §(secret-of-stripe) process.env.STRIPE_SECRET STRIPE_SECRET_PREVIOUS op://production/stripe/secret",
  "a placeholder":
    "your_webhook_secret your-webhook-signing-secret whsec_your_webhook_secret webhook_secret webhooksecret1 whsec_test_secret test_secret secretsecret acme-invoices-secret TODO-set-this fake-secret-value sample-secret insert-secret-here the.secret default-secret development production",
  "a sequence": "1234567890 0123456789abcdef whsec_1234567890abcdef abcdefghijklmnop 9876543210",
};

function problems(env: Record<string, string>, sources: Parameters<typeof loadConfig>[1] = {}) {
  try {
    return { warnings: loadConfig(env, sources).warnings };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems };
    throw error;
  }
}

describe("the secret of a source", () => {
  it.each(
    Object.entries(MEANT_OTHERWISE).flatMap(([got, texts]) => texts.split(" ").map((text) => [text, got] as const)),
  )("production refuses the common mistake %s", (text, got) => {
    const secret = text.replaceAll("§", "$");
    const sources = { "acme-invoices": hmac({ ...own, secret, signature, signed: "{body}" }) };
    expect(problems(PRODUCTION, { sources }).problems).toEqual([
      expect.stringContaining(`sources.acme-invoices: secret: got ${got}, expected the secret that`),
    ]);
  });

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

  it.each([
    ["short", "a length of 5"],
    ["my_verify_token", "a placeholder"],
  ])("%s as a secret that is rotated out, or as a verify token, is warned of in production", (secret, got) => {
    const sources = { shop: shopify({ secret: ["shpss_3b2f8c1d7e6a4905", secret] }) };
    expect(problems(PRODUCTION, { sources }).warnings).toEqual([
      expect.stringContaining(`sources.shop: secret 2 of 2: got ${got}, `),
    ]);
  });

  it.each([
    ["Dropbox's app secret", "k7w2mfh0q9zt3bx"],
    ["LinkedIn's client secret", "Xq81LkZp0vTn4mBc"],
    ["Twitch's shortest", "7hTq2LkZ0v"],
    ["Zoom's secret token", "Bd8Rk2mTQeiVwK3xnGh41A"],
    ["Stripe's signing secret", "whsec_Z8sK4vTn1mQx7LpR2bWc9dYf3gHj6kEt"],
    ["Shopify's client secret", "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"],
    ["Notion's verification token", "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl"],
    ["Adyen's HMAC key", "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"],
    ["a password with a dollar", "$ecretSauce4u-9"],
    ["a phrase with a number", "the-lighthouse-keeper-of-1884"],
  ])("production takes what platforms give out: %s", (_case, secret) => {
    const sources = { acme: hmac({ ...own, secret, signature, signed: "{body}" }) };
    expect(problems(PRODUCTION, { sources })).toHaveProperty("warnings");
  });

  it("production takes every random secret of the lengths and alphabets that platforms use", () => {
    for (let run = 0; run < 300; run += 1)
      for (const encoding of ["hex", "base64", "base64url"] as const) {
        const secret = randomBytes(15 + (run % 40)).toString(encoding);
        for (const text of [secret, secret.slice(0, 20), secret.toUpperCase(), `whsec_${secret}`])
          expect(issuedWeakness(text, ["stripe", "acme"]), text).toBeUndefined();
      }
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
