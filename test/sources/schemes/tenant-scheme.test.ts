import { describe, expect, it } from "vitest";
import { hmac } from "../../../src/sources/platforms/index.ts";
import type { ClaimSecret } from "../../../src/sources/schemes/secret-owners.ts";
import type { TenantSecrets } from "../../../src/sources/schemes/tenant-scheme.ts";
import { requestOf } from "../../support/contract.ts";

const OWN = {
  signature: { header: "X-Signature", encoding: "hex" },
  signed: "{body}",
  id: "body.id",
  type: "body.type",
} as const;
const BODY = Buffer.from('{"id":"1"}');
const secretNamed = (text: string) => `the secret ${text}, which is long enough`;

/** A source whose tenants have what the function gives, and what it wrote to the log. */
function withTenants(
  secret: TenantSecrets,
  {
    claimSecret,
    weakSecrets,
    ...over
  }: {
    readonly signed?: string;
    readonly claimSecret?: ClaimSecret;
    readonly weakSecrets?: "refuse" | "warn";
  } = {},
) {
  const warnings: { readonly fields: object; readonly message: string }[] = [];
  const origin = () => "https://callbacks.example";
  const scheme = hmac({ ...OWN, ...over, path: "/hooks/:shop", secret }).createScheme({
    ...{ name: "shops", clock: { now: () => new Date() }, origin },
    ...(claimSecret !== undefined && { claimSecret }),
    weakSecrets,
    warn: (fields, message) => warnings.push({ fields, message }),
  });
  const verify = async (shop: string, signedWith: string) => {
    const target = `/hooks/${shop}`;
    const { sign } = hmac({ ...OWN, ...over, secret: secretNamed(signedWith) });
    const headers = sign?.({ body: BODY, now: new Date(), target, origin: origin() }) ?? {};
    const request = requestOf(BODY, { headers, target });
    const verdict = await scheme.verify({ ...request, params: { shop } });
    return "verified" in verdict ? "verified" : verdict;
  };
  return { verify, warnings };
}

describe("a tenant's secret that can be guessed", () => {
  it.each(["acme", "ACME", "shops", "undefined", "changeme", "x"])(
    "production responds 503 and says so, so that the platform sends the event again: %s",
    async (secret) => {
      const { verify, warnings } = withTenants(() => secret, { weakSecrets: "refuse" });
      expect(await verify("acme", "of all")).toMatchObject({ kind: "failed", code: "keys_unavailable" });
      expect(warnings).toMatchObject([
        {
          fields: { source: "shops", tenant: "acme" },
          message: expect.stringContaining("can be guessed: got "),
        },
      ]);
    },
  );

  it("development uses it, with a warning, and another tenant is served", { tags: "full" }, async () => {
    const secret: TenantSecrets = ({ params }) => (params.shop === "acme" ? "acme" : secretNamed("of bolt"));
    const development = withTenants(secret, { weakSecrets: "warn" });
    expect(await development.verify("bolt", "of bolt")).toBe("verified");
    expect(development.warnings).toEqual([]);
    expect(await development.verify("acme", "of bolt")).toMatchObject({ code: "signature_mismatch" });
    expect(development.warnings).not.toEqual([]);
    const production = withTenants(secret, { weakSecrets: "refuse" });
    expect(await production.verify("acme", "of bolt")).toMatchObject({ kind: "failed" });
    expect(await production.verify("bolt", "of bolt")).toBe("verified");
  });
});

describe("the secrets of tenants", () => {
  it("a secret that was verified for one tenant is refused for another one, with a warning", {
    tags: "full",
  }, async () => {
    const { verify, warnings } = withTenants(() => secretNamed("of all"));
    expect(await verify("acme", "of all")).toBe("verified");
    expect(await verify("bolt", "of all")).toMatchObject({
      code: "signature_mismatch",
      detail: "acme and bolt have one secret; the path is not signed, so a callback of one could be sent to the other",
    });
    expect(await verify("acme", "of all")).toBe("verified");
    expect(warnings).toMatchObject([{ fields: { source: "shops", tenants: ["acme", "bolt"] } }]);
  });

  it("a previous secret that two tenants have is refused for the second one, and their own secrets verify", {
    tags: "full",
  }, async () => {
    const { verify } = withTenants(({ params }) => [secretNamed(`of ${params.shop}`), secretNamed("of all")]);
    expect(await verify("acme", "of all")).toBe("verified");
    expect(await verify("bolt", "of all")).toMatchObject({ code: "signature_mismatch" });
    expect(await verify("bolt", "of bolt")).toBe("verified");
  });

  it("a secret that the first tenant has lost verifies for the next one", { tags: "full" }, async () => {
    let owner = "acme";
    const { verify } = withTenants(({ params }) => (params.shop === owner ? secretNamed("of the shop") : undefined));
    expect(await verify("acme", "of the shop")).toBe("verified");
    owner = "acme-renamed";
    expect(await verify("acme-renamed", "of the shop")).toBe("verified");
  });

  it("the tenant of a secret is looked up once, however many callbacks arrive", { tags: "full" }, async () => {
    const claims: object[] = [];
    const claimSecret: ClaimSecret = async (claim) => {
      claims.push(claim);
      return claim.tenant;
    };
    const { verify } = withTenants(({ params }) => secretNamed(`of ${params.shop}`), { claimSecret });
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => verify("acme", "of acme")));
    expect(new Set(verdicts)).toEqual(new Set(["verified"]));
    expect(await verify("acme", "of acme")).toBe("verified");
    expect(await verify("acme", "of a stranger")).toMatchObject({ code: "signature_mismatch" });
    expect(claims).toMatchObject([{ tenant: "acme" }]);
  });

  it("a tenant that cannot be looked up fails, and is looked up again for the next callback", async () => {
    const failures = [new Error("the database is away")];
    const claimSecret: ClaimSecret = async ({ tenant }) => {
      const failure = failures.pop();
      if (failure !== undefined) throw failure;
      return tenant;
    };
    const { verify } = withTenants(() => secretNamed("of acme"), { claimSecret });
    expect(await verify("acme", "of acme")).toMatchObject({ kind: "failed", code: "keys_unavailable" });
    expect(await verify("acme", "of acme")).toBe("verified");
  });

  it("one secret verifies for several tenants where the signature covers the path", async () => {
    const { verify, warnings } = withTenants(() => secretNamed("of all"), { signed: "{path}{body}" });
    expect(await verify("acme", "of all")).toBe("verified");
    expect(await verify("bolt", "of all")).toBe("verified");
    expect(warnings).toEqual([]);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
    "a look-up in a plain object finds no tenant %s, and the log says so",
    async (shop) => {
      const secrets: Record<string, string> = { acme: secretNamed("of acme") };
      const { verify, warnings } = withTenants(({ params }) => secrets[params.shop as string]);
      expect(await verify(shop, "of acme")).toMatchObject({ code: "signature_mismatch" });
      expect(await verify("acme", "of acme")).toBe("verified");
      expect(warnings).toMatchObject([
        {
          fields: { source: "shops", tenant: shop },
          message: /no secret and no list of secrets/,
        },
      ]);
    },
  );

  it("null is no tenant, and an unset previous secret is left out", async () => {
    const secrets = { acme: [secretNamed("of acme"), undefined], bolt: null } as unknown as Record<string, string>;
    const { verify, warnings } = withTenants(({ params }) => secrets[params.shop as string]);
    expect(await verify("acme", "of acme")).toBe("verified");
    expect(await verify("bolt", "of acme")).toMatchObject({ code: "signature_mismatch" });
    expect(warnings).toEqual([]);
  });
});
