import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SourceDefinition } from "../../../src/sources/index.ts";
import * as presets from "../../../src/sources/platforms/index.ts";
import { NOW, opened, sent } from "../../support/preset-source.ts";
import { PATH, PLACES, type Secrets, TENANT_CASES, type Tenant, withHeaders } from "./tenant-cases.ts";

/** A callback without a body, by RFC 9421. */
function signedWithoutKeyId(key: string) {
  const parameters = `("@method");created=${NOW.getTime() / 1_000}`;
  const base = `"@method": POST\n"@signature-params": ${parameters}`;
  const signature = createHmac("sha256", key).update(base).digest("base64");
  return sent("", { headers: { "Signature-Input": `a=${parameters}`, Signature: `a=:${signature}:` } });
}

/** Their signatures cover the path, so that no callback fits two tenants. */
const WITH_SIGNED_PATH = ["monday", "antom", "twilio", "twilio-events"];

describe("the secrets of tenants", () => {
  it.concurrent.each(TENANT_CASES.map((one) => [one.name, one] as const))(
    "a tenant's callback is verified by its own secret alone: %s",
    async (_, { tenants, source, request, mismatch = "signature_mismatch" }) => {
      const [acme, bolt] = tenants as [Tenant, Tenant];
      const secretOf: Secrets = ({ params }) =>
        new Map([
          ["acme", acme.secret],
          ["bolt", bolt.secret],
        ]).get(String(params.shop));
      const definition = source(secretOf);
      const { scheme } = opened(definition);
      const verify = async (shop: string, tenant: Tenant) =>
        scheme.verify({ ...(await request(tenant)), params: { shop } });
      expect(definition).toMatchObject({ hasTenantSecrets: true, secrets: [] });
      expect(definition.sign).toBeUndefined();
      expect(await verify("acme", acme)).toMatchObject({ verified: [{ index: 0 }] });
      expect(await verify("bolt", bolt)).toMatchObject({ verified: [{ index: 0 }] });
      expect(await verify("bolt", acme)).toMatchObject({ code: mismatch });
      // In the same words, so that nothing tells who is a customer.
      expect(await verify("made-up", acme)).toMatchObject({ code: mismatch });
    },
  );

  it.concurrent.each(
    TENANT_CASES.filter(({ name }) => !WITH_SIGNED_PATH.includes(name)).map((one) => [one.name, one] as const),
  )(
    "a key that two tenants share is refused for the second one: %s",
    async (_, { tenants, source, request, mismatch = "signature_mismatch" }) => {
      const [shared] = tenants as [Tenant];
      const { scheme } = opened(source(() => shared.secret));
      const verify = async (shop: string) => scheme.verify({ ...(await request(shared)), params: { shop } });
      expect(await verify("acme")).toHaveProperty("verified");
      expect(await verify("bolt")).toMatchObject({
        code: mismatch,
        detail: expect.stringMatching(/^acme and bolt have one secret; /),
      });
      expect(await verify("acme")).toHaveProperty("verified");
    },
  );

  it.concurrent.each(
    TENANT_CASES.filter(({ name }) => WITH_SIGNED_PATH.includes(name)).map((one) => [one.name, one] as const),
  )("two tenants may share a key where the signature covers the path: %s", async (_, { tenants, source, request }) => {
    const [shared] = tenants as [Tenant];
    const { scheme } = opened(source(() => shared.secret));
    for (const shop of ["acme", "bolt"])
      expect(await scheme.verify({ ...(await request(shared)), params: { shop } })).toHaveProperty("verified");
  });

  it("a key of messageSignatures that two tenants have under two ids is one key", { tags: "full" }, async () => {
    const key = "a shared secret of two tenants";
    const source = presets.messageSignatures({
      ...PATH,
      ...PLACES,
      required: ["@method"],
      keys: ({ params }) => [{ id: `${params.shop}`, algorithm: "hmac-sha256", key }],
    });
    const { scheme } = opened(source);
    const verify = (shop: string) => scheme.verify({ ...signedWithoutKeyId(key), params: { shop } });
    expect(await verify("acme")).toHaveProperty("verified");
    expect(await verify("bolt")).toMatchObject({ code: "signature_mismatch" });
  });

  it("the refusal of an unknown tenant names the option that holds the function", async () => {
    const request = { ...signedWithoutKeyId("any"), params: { shop: "acme" } };
    const sources = {
      keys: presets.messageSignatures({ ...PATH, ...PLACES, keys: () => undefined }),
      publicKey: presets.telnyx({ ...PATH, publicKey: () => undefined }),
      secret: presets.stripe({ ...PATH, secret: () => undefined }),
    };
    for (const [option, source] of Object.entries(sources))
      expect(await opened(source).scheme.verify(request)).toHaveProperty(
        "detail",
        `the function \`${option}\` returned none for acme`,
      );
  });

  it("a tenant's new token is found at its first use", { tags: "full" }, async () => {
    let secret = "the token of before";
    const { scheme } = opened(presets.token({ ...PATH, ...PLACES, header: "X-Token", secret: () => secret }));
    const verify = (token: string) => scheme.verify({ ...withHeaders({ "X-Token": token }), params: { shop: "acme" } });
    expect(await verify("the token of before")).toHaveProperty("verified");
    secret = "the token of after";
    expect(await verify("the token of after")).toHaveProperty("verified");
    expect(await verify("the token of before")).toMatchObject({ code: "token_mismatch" });
  });

  it("a function of your own gets the path's parameters", async () => {
    const source = presets.custom({
      ...PATH,
      ...PLACES,
      verify: (_body, headers, _url, { params }) => headers["x-shop"] === params.shop,
    });
    const { scheme } = opened(source);
    const request = withHeaders({ "X-Shop": "acme" });
    expect(await scheme.verify({ ...request, params: { shop: "acme" } })).toHaveProperty("verified");
    expect(await scheme.verify({ ...request, params: { shop: "bolt" } })).not.toHaveProperty("verified");
  });
});

describe("a preset that cannot have secrets of tenants", () => {
  const of = () => "11".repeat(32);
  const make = (options: object, preset: unknown) => (preset as (options: object) => SourceDefinition)(options);

  it.each([
    ["dingtalk", presets.dingtalk, "secret"],
    ["lark", presets.lark, "secret"],
    ["livekit", presets.livekit, "secret"],
    ["plaid", presets.plaid, "secret"],
    ["wechat-pay", presets.wechatPay, "secret"],
    ["zoom", presets.zoom, "secret"],
    ["linkedin", presets.linkedin, "secret"],
    ["x", presets.x, "secret"],
    ["smartcar", presets.smartcar, "secret"],
    ["asana", presets.asana, "secret"],
    ["notion", presets.notion, "secret"],
    ["custom", presets.custom, "secret"],
    ["braintree", presets.braintree, "keys"],
    ["paypal", presets.paypal, "webhookId"],
    ["google-pubsub", presets.googlePubSub, "serviceAccount"],
    ["aws-sns", presets.awsSns, "topics"],
    ["ebay", presets.ebay, "verificationToken"],
  ])("the start refuses a function where the preset needs the secret itself: %s", (name, preset, option) => {
    const own = name === "custom" ? { ...PLACES, verify: () => true } : {};
    const options = { ...PATH, ...own, [option]: of };
    const message = `${name}: \`${option}\`: got a function, expected what the platform shows: this preset cannot`;
    expect(() => make(options, preset)).toThrow(message);
  });

  it.each(Object.entries(presets.PRESETS))("no preset takes a function and ignores it: %s", (_, preset) => {
    try {
      expect(make({ ...PATH, secret: of }, preset)).toHaveProperty("hasTenantSecrets", true);
    } catch (error) {
      expect(String(error)).toMatch(/`(secret|publicKey)`: got a function, expected/);
    }
  });

  it("a function without a path that tells the tenants apart is refused", () => {
    const message = "`secret`: got a function, expected `path` beside it with a parameter";
    expect(() => presets.okta({ secret: of })).toThrow(message);
  });

  it("how a sender signs is looked at where the secrets come later", () => {
    const signed = { ...PATH, ...PLACES, signed: "{timestamp}.{body}" };
    const signature = { header: "X-Signature", encoding: "hex" } as const;
    const message = /`signed`: got \{timestamp\}.*, expected `timestamp` beside it/;
    expect(() => presets.hmac({ ...signed, signature, secret: of })).toThrow(message);
    const key = { algorithm: "ed25519", publicKey: of } as const;
    expect(() => presets.publicKey({ ...signed, signature, ...key })).toThrow(message);
  });

  it("a reconciliation is refused, since the platform's list has ids only", () => {
    const reconcile = { apiKey: "rk_1" };
    expect(() => presets.stripe({ ...PATH, secret: of, reconcile })).toThrow(
      "stripe: `reconcile`: got it with a path that has parameters",
    );
  });
});
