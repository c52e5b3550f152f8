import { expect, it } from "vitest";
import { github, hmac, shopify, stripe } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const SECRET = "whsec_of_the_stripe_endpoint";
const NOW = () => new Date();

interface Found {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly confirmed: boolean;
}

type Headers = Record<string, string>;

const body = Buffer.from(JSON.stringify({ id: "evt_1", type: "invoice.paid", created: 1_766_000_000 }));
const signed = (secret: string, over: Buffer = body, now = NOW()): Headers =>
  stripe({ secret }).sign?.({ body: over, now }) ?? {};

/** The diagnosis of a callback that is refused. */
async function diagnosisOf(
  receiver: TestReceiver,
  headers: Headers,
  { sent = body, source = "stripe", path = "" } = {},
): Promise<Found> {
  const url = `${receiver.publicOrigin}${path === "" ? `/api/${source}/callback` : path}`;
  const response = await fetch(url, { method: "POST", body: sent, headers });
  expect(response.status).toBe(401);
  const id = response.headers.get("x-request-id");
  const found: Found[] = [];
  await until(async () => {
    const { items } = (await receiver.admin(`/api/v1/callbacks?source=${source}`)).body as {
      items: { request_id: string; diagnosis?: Found | null }[];
    };
    const row = items.find(({ request_id }) => request_id === id);
    if (row?.diagnosis) found.push(row.diagnosis);
    return found.length > 0;
  });
  return found[0] as Found;
}

const SHOPS: Readonly<Record<string, string>> = { "acme.example": "the secret of this shop" };

const sources = {
  shops: shopify({ path: "/hooks/:shop", secret: ({ params: { shop = "" } }) => SHOPS[shop] }),
  us: stripe({ secret: "whsec_of_the_other_account" }),
  stripe: stripe({ secret: SECRET }),
  github: github({ secret: "a secret that GitHub was given" }),
  webhooks: hmac({
    secret: Buffer.from("a key of some bytes").toString("base64"),
    key: "base64",
    signature: { header: "X-Own-Signature", encoding: "base64" },
    signed: "{url}{body}",
    id: "body.id",
    type: "body.type",
  }),
};

describeFullOnPostgres("refused callbacks of platforms on %s", (dialect) => {
  it("a refusal of a tenant names the tenant, and the function that gives its secret", { tags: "full" }, () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const headers = (secret: string) => shopify({ secret }).sign?.({ body, now: NOW() }) ?? {};
        const find = (shop: string) =>
          diagnosisOf(receiver, headers("another secret"), { source: "shops", path: `/hooks/${shop}` });
        expect(await find("acme.example")).toMatchObject({
          code: "unknown",
          remedy: expect.stringContaining(
            "Compare the secret that the source's function returned for acme.example with the one that Shopify shows",
          ),
        });
        expect(await find("made-up.example")).toMatchObject({
          confirmed: false,
          message: "The function `secret` returned none for made-up.example.",
          remedy: expect.stringContaining("If made-up.example is a tenant of yours"),
        });
      },
      { sources },
    ),
  );

  it("a callback with the secret of another account's source is explained by that source", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        expect(await diagnosisOf(receiver, signed("whsec_of_the_other_account"))).toMatchObject({
          message: "The signature was made with the secret of source us: are the addresses swapped?",
        });
        expect(await diagnosisOf(receiver, signed("whsec_of_nobody"))).toMatchObject({
          remedy: expect.stringContaining("Compare the secret of source stripe with the one that Stripe shows"),
        });
      },
      { sources },
    ));

  it("a signature of Stripe is explained in Stripe's words", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const find = (headers: Headers, sent?: Buffer<ArrayBuffer>) => diagnosisOf(receiver, headers, sent && { sent });
        expect(await find(signed("whsec_of_somebody_else"))).toMatchObject({
          code: "unknown",
          confirmed: false,
          remedy: expect.stringContaining("STRIPE_SECRET with the one that Stripe shows"),
        });
        const missing = await find({});
        expect(missing).toMatchObject({ code: "missing", message: "The request has no `Stripe-Signature`." });
        expect(missing.remedy).toMatch(/^Turn signing on at Stripe/);
        const rewritten = Buffer.from(JSON.stringify(JSON.parse(String(body)), null, 2));
        expect(await find(signed(SECRET), rewritten)).toMatchObject({
          code: "body_changed",
          confirmed: true,
          message: "The signature matches the body written as JSON without spaces.",
        });
        expect(await find(signed(SECRET.replace("whsec_", "")))).toMatchObject({
          code: "secret_format",
          message: "The signature was made with STRIPE_SECRET without `whsec_`.",
        });
        const text = await (await fetch(`${receiver.adminOrigin}/metrics`)).text();
        const counted = (source: string) =>
          `oncehook_signature_diagnoses_total{source="${source}",code="secret_format"}`;
        expect(text).toContain(`${counted("stripe")} 1\n`);
        expect(text).toContain(`${counted("platform")} 0\n`);
      },
      { env: { SOURCES: "stripe", STRIPE_SECRET: SECRET } },
    ));

  it("a stale timestamp is explained by the place where Stripe has it", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const found = await diagnosisOf(receiver, signed(SECRET, body, new Date(Date.now() - 900_000)));
        expect(found).toMatchObject({ code: "timestamp", confirmed: true });
        expect(found.message).toMatch(
          /^The timestamp was refused: `Stripe-Signature`: `t`: 90\d s ago, expected at most 300 s\.$/,
        );
      },
      { sources },
    ));

  it("the form of a signature is compared with the platform's", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const [, right = ""] = String(sources.github.sign?.({ body, now: NOW() })["X-Hub-Signature-256"]).split("=");
        const find = (value: string) => diagnosisOf(receiver, { "x-hub-signature-256": value }, { source: "github" });
        expect(await find(right)).toMatchObject({
          code: "prefix",
          confirmed: true,
          message: "The signature does not begin with `sha256=`. The digest itself is correct.",
        });
        expect(await find(`sha256=${right.toUpperCase()}`)).toMatchObject({
          code: "encoding",
          confirmed: true,
        });
        const base64 = Buffer.from(right, "hex").toString("base64");
        expect(await find(`sha256=${base64}`)).toMatchObject({
          code: "encoding",
          confirmed: true,
          message: "The signature is in base64, expected hexadecimal. The digest itself is correct.",
        });
        expect(await find("sha256=c0ffee")).toMatchObject({
          code: "malformed",
          message: "`X-Hub-Signature-256`: expected `sha256=` and 64 lowercase hexadecimal digits.",
        });
        const other = await diagnosisOf(receiver, signed(SECRET), { source: "github" });
        expect(other).toMatchObject({
          code: "other_header",
          message: "The request has no `X-Hub-Signature-256`, but `Stripe-Signature`, as Stripe sends it.",
        });
      },
      { sources },
    ));

  it("a signature over another address, or with an undecoded secret, is recognized", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        const target = "/api/webhooks/callback";
        const [secret = ""] = sources.webhooks.secrets;
        const sign = (origin: string) => sources.webhooks.sign?.({ body, now: NOW(), target, origin }) ?? {};
        const host = new URL(receiver.publicOrigin).host;
        const found = await diagnosisOf(receiver, sign(`https://${host}`), { source: "webhooks" });
        expect(found).toMatchObject({ code: "other_content", confirmed: true });
        expect(found.message).toContain(`begins with https://${host}, and CALLBACK_BASE_URL with http://`);
        const { createHmac } = await import("node:crypto");
        const raw = createHmac("sha256", secret)
          .update(receiver.publicOrigin + target)
          .update(body)
          .digest("base64");
        expect(await diagnosisOf(receiver, { "x-own-signature": raw }, { source: "webhooks" })).toMatchObject({
          code: "secret_format",
          message: "The signature was made with the secret of source webhooks as it is, without decoding it.",
        });
      },
      { sources },
    ));
});
