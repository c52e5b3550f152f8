import { describe, expect, it } from "vitest";
import type { SourceDefinition } from "../../../src/sources/index.ts";
import * as presets from "../../../src/sources/presets/index.ts";
import { opened } from "../../support/preset-source.ts";
import { PATH, PLACES, type Secrets, TENANT_CASES, type Tenant, withHeaders } from "./tenant-cases.ts";

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

  it("a tenant's new token is found at its first use", async () => {
    let secret = "the token of before";
    const { scheme } = opened(presets.token({ ...PATH, ...PLACES, header: "X-Token", secret: () => secret }));
    const verify = (token: string) =>
      scheme.verify({ ...withHeaders({ "X-Token": token }), params: { shop: "acme" } });
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
  const make = (options: object, preset: unknown) =>
    (preset as (options: object) => SourceDefinition)(options);

  it.each([
    ["dingtalk", presets.dingtalk, "secret"],
    ["lark", presets.lark, "secret"],
    ["livekit", presets.livekit, "secret"],
    ["plaid", presets.plaid, "secret"],
    ["wechatPay", presets.wechatPay, "secret"],
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
    const given = { ...PATH, ...PLACES, verify: () => true, [option]: of };
    // `custom` knows the options of no other preset, and these ignore what they do not know.
    const options = name === "custom" ? given : { ...given, verify: undefined };
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
    const message = /signed: got \{timestamp\}.*, expected `timestamp` beside it/;
    expect(() => presets.hmac({ ...signed, signature, secret: of })).toThrow(message);
    const key = { algorithm: "ed25519", publicKey: of } as const;
    expect(() => presets.publicKey({ ...signed, signature, ...key })).toThrow(message);
  });

  it("a reconciliation is refused, since the platform's list names no tenant", () => {
    const reconcile = { apiKey: "rk_1" };
    expect(() => presets.stripe({ ...PATH, secret: of, reconcile })).toThrow(
      "stripe: `reconcile`: got it with a path that has parameters",
    );
  });
});
