import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/domain/index.ts";
import { SampleError, type SourceDefinition, signedAs, signSample } from "../../../src/sources/index.ts";
import { braintree, hmac, meta, PRESETS, tiktokShop, whatsapp } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { SECRET } from "../../support/documented-preset.ts";
import { openPreset, PRESET_NOW, PRESET_ORIGIN, verifiedEvents } from "../../support/preset.ts";

const TARGET = "/base/api/source/callback";

function sampleOf(
  definition: SourceDefinition,
  type: string,
  over: { id?: string; data?: JsonObject; headers?: Record<string, string>; raw?: Uint8Array } = {},
) {
  const url = new URL(PRESET_ORIGIN + TARGET);
  return signSample(definition, {
    source: "shop",
    type,
    now: PRESET_NOW,
    url,
    origin: PRESET_ORIGIN,
    ...over,
  });
}

async function eventsIn(definition: SourceDefinition, { headers, body }: ReturnType<typeof sampleOf>) {
  return verifiedEvents(definition, requestOf(body, { target: TARGET, headers }));
}

const object = (fields: object) => expect.objectContaining(fields);
const WITH_FIELDS = [
  ["push", PRESETS.github, { ref: expect.any(String), commits: [object({ id: expect.any(String) })] }],
  ["pull_request", PRESETS.github, { action: "opened", number: 1, pull_request: object({ number: 1 }) }],
  ["issues", PRESETS.github, { action: "opened", issue: object({ title: expect.any(String) }) }],
  ...[
    ["invoice.paid", { object: "invoice", amount_paid: 1_000, status: "paid" }] as const,
    ["checkout.session.completed", { object: "checkout.session", payment_status: "paid" }] as const,
    ["payment_intent.succeeded", { object: "payment_intent", amount_received: 1_000 }] as const,
    ["customer.subscription.updated", { object: "subscription", status: "active" }] as const,
  ].map(([type, fields]) => [type, PRESETS.stripe, { data: { object: object(fields) } }] as const),
] as const;

it.each(WITH_FIELDS)("the sample of %s has the fields that its platform documents", async (type, preset, data) => {
  const source = preset({ secret: SECRET });
  const [event] = await eventsIn(source, sampleOf(source, type));
  expect(event?.json).toMatchObject({ event_type: type, data });
});

/** A type that the platform could send; any text for most. */
const TYPES: Readonly<Record<string, string>> = {
  airtable: "notification",
  asana: "task.changed",
  "customer-io": "email.sent",
  "dropbox-sign": "signature_request_signed",
  gocardless: "payments.confirmed",
  x: "tweet_create_events",
  xero: "INVOICE.UPDATE",
};
/** Their signature is made with a private key, a token in the body, or an address of theirs. */
const UNSIGNABLE = [
  "discord",
  "figma",
  "fusionauth",
  "microsoft-graph",
  "monday",
  "sendgrid",
  "sharepoint",
  "telnyx",
  "twilio-events",
  "wise",
];
/** Contentful's has 64 letters. */
const LONG_SECRET = "c2VjcmV0".repeat(8);
const HEX = "ab".repeat(32);
const SECRETS: Readonly<Record<string, string>> = { adyen: HEX, "adyen-platform": HEX };

const presets = Object.entries(PRESETS)
  .filter(([name]) => !UNSIGNABLE.includes(name))
  .map(([name, preset]) => [name, preset({ secret: SECRETS[name] ?? LONG_SECRET })] as const);
const verifyToken = "a verify token";
const more: [string, SourceDefinition, string][] = [
  ["meta", meta({ secret: SECRET, verifyToken }), "page.feed"],
  ["whatsapp", whatsapp({ secret: SECRET, verifyToken }), "messages"],
  ["tiktok-shop", tiktokShop({ secret: SECRET, appKey: "app_key" }), "1"],
];

describe("a sample of a callback", () => {
  it.each([...presets.map(([name, preset]) => [name, preset, TYPES[name] ?? "thing.happened"] as const), ...more])(
    "a sample of a callback of %s is authentic, and is one event of the type",
    async (_name, definition, type) => {
      const events = await eventsIn(definition, sampleOf(definition, type));
      expect(events.map((event) => event.typeOf())).toEqual([type]);
    },
  );

  it.each(presets)(
    "a sample of a callback of %s is another event each time, in its bytes as well",
    (name, definition) => {
      const [one, other] = [1, 2].map(() => sampleOf(definition, TYPES[name] ?? "thing.happened"));
      expect(one?.event?.event_id).not.toBe(other?.event?.event_id);
      if (openPreset(definition).contract.identity === "bytes") expect(one?.body).not.toEqual(other?.body);
    },
  );

  it.each(presets.filter(([, definition]) => definition.identity !== "delivery"))(
    "a sample of a callback of %s has the same bytes for the same id and time",
    (name, definition) => {
      const [one, other] = [1, 2].map(() =>
        sampleOf(definition, TYPES[name] ?? "thing.happened", { id: "id_of_a_sample_1" }),
      );
      expect(one?.body).toEqual(other?.body);
      expect(one?.event?.event_id).toBe(other?.event?.event_id);
    },
  );

  it.each([
    ["stripe", "evt_7"],
    ["github", "evt_7"],
    ["shopify", "evt_7"],
    ["slack", "evt_7"],
    ["standard-webhooks", "evt_7"],
  ] as const)("a sample of a callback of %s has the id that was asked for", (name, expected) => {
    const { event } = sampleOf(PRESETS[name]({ secret: LONG_SECRET }), "thing", { id: "evt_7" });
    expect(event?.event_id).toBe(expected);
  });

  it("a sample of a callback has the given data where the handler reads it, and keeps the rest of the platform's shape", () => {
    const given = { data: { object: { id: "in_1" } } };
    const { event } = sampleOf(PRESETS.stripe({ secret: SECRET }), "invoice.paid", { data: given });
    expect(event?.data).toMatchObject({ object: "event", type: "invoice.paid", ...given });
  });

  it.each(["invoice.paid", "charge.refunded", "checkout.session.completed", "payment_intent.succeeded"])(
    "another sample of Stripe's %s is about another object, and the same event about the same one",
    (type) => {
      const objectOf = (id?: string) => {
        const { body } = sampleOf(PRESETS.stripe({ secret: SECRET }), type, id === undefined ? {} : { id });
        return JSON.parse(Buffer.from(body).toString()).data.object.id;
      };
      expect(objectOf()).not.toBe(objectOf());
      expect(objectOf("evt_1")).toBe(objectOf("evt_1"));
    },
  );

  it("a sample of a callback keeps the id of the given data, and puts the type over it", () => {
    const data = { id: "evt_captured", type: "invoice.voided" };
    const { event } = sampleOf(PRESETS.stripe({ secret: SECRET }), "invoice.paid", { data });
    expect(event).toMatchObject({ event_id: "evt_captured", event_type: "invoice.paid" });
  });

  it("a sample of a callback has the given data in the part of the body that the contract names", () => {
    const data = { priority: "P1" };
    const { event, body } = sampleOf(PRESETS.pagerduty({ secret: SECRET }), "incident.triggered", { data });
    expect(event?.data).toMatchObject(data);
    expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ event: data });
  });

  it.each([
    ["adyen", "AUTHORISATION", HEX],
    ["mailgun", "delivered", SECRET],
    ["dropbox-sign", "signature_request_signed", SECRET],
    ["twilio", "message.sent", SECRET],
    ["stripe", "invoice.paid", SECRET],
    ["slack", "app_mention", SECRET],
  ] as const)("a sample of %s that is signed wrong or not at all is refused", async (name, type, secret) => {
    const definition = PRESETS[name]({ secret });
    const { scheme } = openPreset(definition, { now: PRESET_NOW });
    for (const signature of ["wrong", "none"] as const) {
      const { body, headers } = sampleOf(signedAs(definition, signature), type);
      const verified = await scheme.verify(requestOf(body, { target: TARGET, headers }));
      expect(verified).toMatchObject({ kind: "refused" });
    }
  });

  it("other bytes are signed inside them, where the platform signs inside the body", async () => {
    const adyen = PRESETS.adyen({ secret: HEX });
    const { body } = sampleOf(adyen, "AUTHORISATION");
    const edited = Buffer.from(Buffer.from(body).toString().replace("AUTHORISATION", "REFUND"));
    const [event] = await eventsIn(adyen, sampleOf(adyen, "any", { raw: edited }));
    expect(event?.typeOf()).toBe("REFUND");
    const raw = Buffer.from("no json");
    expect(sampleOf(adyen, "any", { raw }).body).toEqual(raw);
  });

  it("a sample of Twilio's status callback is a form, in Twilio's fields", async () => {
    const sample = sampleOf(PRESETS.twilio({ secret: SECRET }), "message.delivered");
    const form = new URLSearchParams(Buffer.from(sample.body).toString());
    expect(form.get("MessageStatus")).toBe("delivered");
    expect(sample.event).toMatchObject({ event_type: "message.delivered" });
  });

  it("a sample of a slash command is a form", async () => {
    const slack = PRESETS.slack({ secret: SECRET });
    const sample = sampleOf(slack, "/deploy");
    expect(sample.headers["Content-Type"]).toBe("application/x-www-form-urlencoded");
    expect((await eventsIn(slack, sample)).map((event) => event.typeOf())).toEqual(["/deploy"]);
  });

  it("a source whose preset has no sample gets one that is built from the places of its contract", async () => {
    const own = hmac({
      secret: SECRET,
      signature: { header: "X-Sig", encoding: "hex" },
      signed: "{header.X-Id}.{body}",
      body: { form: "payload" },
      id: "header.X-Id",
      type: "{body.kind}/{body.action}",
      eventTime: { at: "body.meta.at[0]", unit: "milliseconds" },
    });
    const sample = sampleOf(own, "order/paid", { id: "1" });
    const payload = JSON.stringify({ kind: "order", action: "paid", meta: { at: [PRESET_NOW.getTime()] } });
    expect(new URLSearchParams(Buffer.from(sample.body).toString()).get("payload")).toBe(payload);
    const [event] = await eventsIn(own, sample);
    expect(event?.json).toMatchObject({ event_id: "1", timestamp: PRESET_NOW.getTime() / 1_000 });
  });

  it("a sample of a callback encodes what the contract decodes inside the body", async () => {
    const own = hmac({
      secret: SECRET,
      signature: { header: "X-Sig", encoding: "hex" },
      signed: "{body}",
      decode: [{ at: "body.message.data", as: "base64-json" }],
      id: "body.message.id",
      type: "body.message.data.type",
    });
    const [event] = await eventsIn(own, sampleOf(own, "pushed"));
    expect(event?.typeOf()).toBe("pushed");
  });

  it("a sample of a callback of Lark is encrypted, and has the header of an event of version 2", async () => {
    const lark = PRESETS.lark({ secret: SECRET });
    const sample = sampleOf(lark, "im.message.receive_v1", { id: "evt_7", data: { event: { text: "hi" } } });
    expect(JSON.parse(Buffer.from(sample.body).toString())).toEqual({ encrypt: expect.any(String) });
    expect(sample.headers).toMatchObject({
      "X-Lark-Request-Timestamp": String(PRESET_NOW.getTime() / 1_000),
      "X-Lark-Request-Nonce": "evt_7",
    });
    const [event] = await eventsIn(lark, sample);
    expect(event?.json).toMatchObject({
      event_id: "evt_7",
      timestamp: PRESET_NOW.getTime() / 1_000,
      data: { schema: "2.0", event: { text: "hi" } },
    });
  });

  it("a sample of a callback may have other headers, and other bytes that are signed in its place", async () => {
    const stripe = PRESETS.stripe({ secret: SECRET });
    const raw = Buffer.from('{"id":"1","type":"raw"}');
    const [event] = await eventsIn(stripe, sampleOf(stripe, "any", { raw }));
    expect(event?.typeOf()).toBe("raw");
    const headers = { "stripe-signature": "t=1,v1=00" };
    expect(sampleOf(stripe, "any", { headers }).headers).toMatchObject(headers);
  });

  it.each([
    [
      "no callback of Braintree can be signed here",
      braintree({ keys: { publicKey: "p", privateKey: SECRET } }),
      "check",
    ],
    ["`signature.token`: expected 16 to 128", PRESETS.mailgun({ secret: SECRET }), "delivered", "short"],
    ["`eventCode`: holds a colon", PRESETS.adyen({ secret: HEX }), "a:b"],
    ["lowercase letters and underscores", PRESETS["dropbox-sign"]({ secret: SECRET }), "a.b"],
    ['Airtable has no type "other"', PRESETS.airtable({ secret: SECRET }), "other"],
    ["name the type of an event", PRESETS.intercom({ secret: SECRET }), "ping"],
    ['event of the type "nodot" can be made', PRESETS.asana({ secret: SECRET }), "nodot"],
  ])("a sample that cannot be made has an error that states why: %s", (reason, definition, type, id = "") => {
    const attempt = () => sampleOf(definition, type, id === "" ? {} : { id });
    expect(attempt).toThrow(SampleError);
    expect(attempt).toThrow(reason);
  });
});
