import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/domain/index.ts";
import type { SourceDefinition } from "../../../src/sources/index.ts";
import {
  airwallex,
  checkoutCom,
  commerceLayer,
  fastspring,
  flutterwave,
  lemonSqueezy,
  paystack,
  recharge,
  revenuecat,
  revolut,
  solidgate,
  tiktokShop,
  walmart,
  woocommerce,
} from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { type Documented, describeDocumented, hmac, SECONDS, SECRET } from "../../support/documented-preset.ts";
import { openPreset, PRESET_NOW, verifiedEvents } from "../../support/preset.ts";

const ISO = PRESET_NOW.toISOString();
const MILLISECONDS = `${SECONDS}000`;
const sha512 = (text: string) => hmac(text, "hex", { algorithm: "sha512" });
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const DOCUMENTED: Record<string, Documented> = {
  WooCommerce: {
    preset: woocommerce({ secret: SECRET }),
    body: { id: 727, status: "processing" },
    headers: (body) => ({
      "X-WC-Webhook-Signature": hmac(body, "base64"),
      "X-WC-Webhook-Topic": "order.updated",
      "X-WC-Webhook-Delivery-ID": "b4f2",
    }),
    events: [[expect.stringMatching(/-/), "order.updated"]],
  },
  "Commerce Layer": {
    preset: commerceLayer({ secret: SECRET }),
    body: { data: { id: "wBXVhKzrnq", type: "orders", attributes: { status: "placed" } } },
    headers: (body) => ({
      "X-CommerceLayer-Signature": hmac(body, "base64"),
      "X-CommerceLayer-Topic": "orders.place",
    }),
    events: [["", "orders.place"]],
  },
  "Checkout.com": {
    preset: checkoutCom({ secret: SECRET }),
    body: { id: "evt_az5sblvku4ge3dwpztvyizgcau", type: "payment_captured", created_on: ISO, data: {} },
    headers: (body) => ({ "Cko-Signature": hmac(body) }),
    events: [["evt_az5sblvku4ge3dwpztvyizgcau", "payment_captured"]],
  },
  Paystack: {
    preset: paystack({ secret: SECRET }),
    body: { event: "charge.success", data: { id: 302_961, status: "success" } },
    headers: (body) => ({ "x-paystack-signature": sha512(body) }),
    events: [["charge.success.302961", "charge.success"]],
  },
  "a reminder of Paystack": {
    preset: paystack({ secret: SECRET }),
    body: { event: "charge.dispute.remind", data: { id: 358_950 } },
    headers: (body) => ({ "x-paystack-signature": sha512(body) }),
    events: [[expect.stringMatching(/-/), "charge.dispute.remind"]],
  },
  "an invoice of Paystack": {
    preset: paystack({ secret: SECRET }),
    body: { event: "invoice.update", data: { invoice_code: "INV_thy2vkmirn2urwv" } },
    headers: (body) => ({ "x-paystack-signature": sha512(body) }),
    events: [["", "invoice.update"]],
  },
  "Flutterwave v4": {
    preset: flutterwave({ secret: SECRET }),
    body: { type: "charge.completed", data: { id: "chg_1", status: "succeeded" } },
    headers: (body) => ({ "flutterwave-signature": hmac(body, "base64") }),
    events: [["charge.completed.chg_1.succeeded", "charge.completed"]],
  },
  Airwallex: {
    preset: airwallex({ secret: SECRET }),
    body: { id: "evt_1", name: "payment_intent.succeeded", created_at: "2026-06-15T12:00:00+0000", data: {} },
    headers: (body) => ({ "x-timestamp": MILLISECONDS, "x-signature": hmac(MILLISECONDS + body) }),
    events: [["evt_1", "payment_intent.succeeded"]],
  },
  Revolut: {
    preset: revolut({ secret: SECRET }),
    body: { event: "ORDER_COMPLETED", order_id: "6516e61c", merchant_order_ext_ref: "Order #2937" },
    headers: (body) => ({
      "Revolut-Request-Timestamp": MILLISECONDS,
      "Revolut-Signature": `v1=${"0".repeat(64)},v1=${hmac(`v1.${MILLISECONDS}.${body}`)}`,
    }),
    events: [["6516e61c.ORDER_COMPLETED", "ORDER_COMPLETED"]],
  },
  Solidgate: {
    preset: solidgate({ secret: SECRET }),
    body: { order: { order_id: "1", status: "settle_ok" } },
    headers: (body) => ({
      merchant: "wh_pk_1",
      signature: Buffer.from(sha512(`wh_pk_1${body}wh_pk_1`)).toString("base64"),
      "solidgate-event-type": "card_gate.order.updated",
      "solidgate-event-id": "5a0d",
    }),
    events: [["5a0d", "card_gate.order.updated"]],
  },
  "Lemon Squeezy": {
    preset: lemonSqueezy({ secret: SECRET }),
    body: { meta: { event_name: "order_created" }, data: { id: "1" } },
    headers: (body) => ({ "X-Signature": hmac(body), "X-Event-Name": "order_created" }),
    events: [["", "order_created"]],
  },
  FastSpring: {
    preset: fastspring({ secret: SECRET }),
    body: {
      events: [
        { id: "WbWBdC", type: "order.completed", created: 1_426_560_444_800, data: {} },
        { id: "WbWBdD", type: "subscription.activated", created: 1_426_560_444_900, data: {} },
      ],
    },
    headers: (body) => ({ "X-FS-Signature": hmac(body, "base64") }),
    events: [
      ["WbWBdC", "order.completed"],
      ["WbWBdD", "subscription.activated"],
    ],
  },
  "RevenueCat with a signature": {
    preset: revenuecat({ secret: SECRET, verify: "signature" }),
    body: { api_version: "1.0", event: { id: "12345678", type: "RENEWAL", event_timestamp_ms: 1 } },
    headers: (body) => ({
      "X-RevenueCat-Webhook-Signature": `t=${SECONDS},v1=${hmac(`${SECONDS}.${body}`)}`,
    }),
    events: [["12345678", "RENEWAL"]],
  },
  Recharge: {
    preset: recharge({ secret: SECRET }),
    body: { charge: { id: 123, status: "SUCCESS" } },
    headers: (body) => ({
      "X-Recharge-Webhook-Signature": `t=${SECONDS},v1=${hmac(`${SECONDS}.${body}`)}`,
    }),
    events: [["", "charge"]],
  },
  Walmart: {
    preset: walmart({ secret: SECRET }),
    body: { source: { eventType: "PO_CREATED", eventTime: ISO, eventId: "fb39" }, payload: {} },
    headers: (body) => ({
      "WM_SEC.TIMESTAMP": SECONDS,
      "WM_SEC.SIGNATURE": hmac(`POST\n/api/source/callback\n${SECONDS}\n${sha256(body)}`, "base64"),
    }),
    events: [["fb39", "PO_CREATED"]],
  },
  "TikTok Shop": {
    preset: tiktokShop({ secret: SECRET, appKey: "38abcd" }),
    body: { type: 1, tts_notification_id: "7327112393057371910", timestamp: 1_644_412_885, data: {} },
    headers: (body) => ({ Authorization: hmac(`38abcd${body}`) }),
    events: [["7327112393057371910", "1"]],
  },
};

describeDocumented(DOCUMENTED);

describe("WooCommerce", () => {
  const preset = woocommerce({ secret: SECRET });
  const form = { "content-type": "application/x-www-form-urlencoded" };

  it("the unsigned ping of a saved webhook of WooCommerce gets 200", async () => {
    const ping = requestOf("webhook_id=12", { headers: form });
    expect(await openPreset(preset).contract.challenge?.(ping)).toMatchObject({ status: 200 });
  });

  it("a ping of WooCommerce that claims a signature is no handshake", () => {
    const ping = requestOf("webhook_id=12", { headers: { ...form, "X-WC-Webhook-Signature": "c2ln" } });
    expect(openPreset(preset).contract.challenge?.(ping)).toBeUndefined();
  });

  it("two orders of WooCommerce under one delivery id are two events", () => {
    const { contract } = openPreset(preset);
    const headers = { "X-WC-Webhook-Topic": "order.created", "X-WC-Webhook-Delivery-ID": "b4f2" };
    const ids = [1, 2].map((id) => eventsOf(contract, requestOf({ id }, { headers }))[0]?.eventId);
    expect(new Set(ids).size).toBe(2);
  });

  it("two equal callbacks of WooCommerce, which sends none again, are two events", () => {
    const { contract } = openPreset(preset);
    const headers = { "X-WC-Webhook-Topic": "action.woocommerce_add_to_cart" };
    const ids = [1, 2].map(() => eventsOf(contract, requestOf({ arg: "1" }, { headers }))[0]?.eventId);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("an event without an id", () => {
  const idOf = async (preset: SourceDefinition, body: JsonValue, headers: Record<string, string>) =>
    (await verifiedEvents(preset, requestOf(JSON.stringify(body), { headers })))[0]?.eventId;
  const idsOf = (preset: SourceDefinition, headers: (text: string) => Record<string, string>) => {
    const of = (body: JsonValue) => idOf(preset, body, headers(JSON.stringify(body)));
    return async (...bodies: JsonValue[]) => new Set(await Promise.all(bodies.map(of))).size;
  };

  it("a subscription of Paystack that ends again is another event, also where it has no cancelledAt", async () => {
    const count = idsOf(paystack({ secret: SECRET }), (text) => ({ "x-paystack-signature": sha512(text) }));
    const ended = (data: Record<string, string>) => ({
      event: "subscription.not_renew",
      data: { id: 317_617, status: "non-renewing", ...data },
    });
    const [first, second] = ["01", "20"].map((day) => ended({ cancelledAt: `2026-11-${day}T10:00:00.000Z` }));
    expect(await count(first!, second!)).toBe(2);
    expect(await count(first!, first!)).toBe(1);
    expect(await count(ended({}), ended({}))).toBe(2);
    const failed = {
      event: "customeridentification.failed",
      data: { customer_id: 1, reason: "Name does not match" },
    };
    expect(await count(failed, failed)).toBe(2);
  });

  it("a plan of Flutterwave that is cancelled again is another event, and a payment is one event", async () => {
    const preset = flutterwave({ secret: SECRET, verify: "token" });
    const count = idsOf(preset, () => ({ "verif-hash": SECRET }));
    const cancelled = {
      event: "subscription.cancelled",
      data: { status: "deactivated", plan: { id: 71_730 } },
    };
    const paid = { event: "charge.completed", data: { id: 1, status: "successful" } };
    expect(await count(cancelled, cancelled)).toBe(2);
    expect(await count(paid, paid)).toBe(1);
  });

  it("a retry of Revolut under a new time is one event, and a payment that is declined twice is two", async () => {
    const preset = revolut({ secret: SECRET });
    const at = (seconds: number) => async (body: JsonValue) => {
      const time = `${Number(SECONDS) + seconds}000`;
      const signature = `v1=${hmac(`v1.${time}.${JSON.stringify(body)}`)}`;
      const headers = { "Revolut-Request-Timestamp": time, "Revolut-Signature": signature };
      return idOf(preset, body, headers);
    };
    const order = (event: string) => ({ event, order_id: "6516e61c", merchant_order_ext_ref: "Order #2937" });
    const business = { event: "TransactionStateChanged", timestamp: ISO, data: { id: "1" } };
    for (const body of [...["ORDER_AUTHORISED", "ORDER_COMPLETED", "ORDER_CANCELLED"].map(order), business])
      expect(await at(600)(body)).toBe(await at(0)(body));
    const declined = order("ORDER_PAYMENT_DECLINED");
    expect(await at(600)(declined)).not.toBe(await at(0)(declined));
  });
});

describe("a timestamp that is signed", () => {
  const later = (hours: number) => new Date(PRESET_NOW.getTime() + hours * 3_600_000);
  const requestIn = ({ body, headers }: Documented) => {
    const text = JSON.stringify(body);
    return requestOf(text, { headers: headers(text) });
  };

  it.each(["Airwallex", "Revolut", "Walmart"])(
    "a callback of %s is authentic three days after it was signed",
    async (name) => {
      const documented = DOCUMENTED[name] as Documented;
      const { scheme } = openPreset(documented.preset, { now: later(72) });
      expect(await scheme.verify(requestIn(documented))).toHaveProperty("verified");
    },
  );

  it("a callback of Recharge is refused 48 hours after it was signed", async () => {
    const documented = DOCUMENTED.Recharge as Documented;
    const verdictAfter = (hours: number) =>
      openPreset(documented.preset, { now: later(hours) }).scheme.verify(requestIn(documented));
    expect(await verdictAfter(47.9)).toHaveProperty("verified");
    expect(await verdictAfter(48.1)).toMatchObject({ code: "timestamp_stale" });
  });
});

describe("Solidgate's signature", () => {
  const body = "{}";
  const { scheme } = openPreset(solidgate({ secret: SECRET }));
  const verify = (signature: string, merchant = "wh_pk_1") =>
    scheme.verify(requestOf(body, { headers: { merchant, signature } }));
  const hex = sha512(`wh_pk_1${body}wh_pk_1`);

  it.each([
    ["the hex text alone", hex],
    ["base64 of the digest's bytes", Buffer.from(hex, "hex").toString("base64")],
    ["base64 of upper-case hex", Buffer.from(hex.toUpperCase()).toString("base64")],
  ])("a signature of Solidgate is refused as %s", async (_, signature) => {
    expect(await verify(signature)).toMatchObject({ code: "signature_malformed" });
  });

  it("a signature of Solidgate is refused under another public key", async () => {
    const signature = Buffer.from(hex).toString("base64");
    expect(await verify(signature, "wh_pk_2")).toMatchObject({ code: "signature_mismatch" });
  });
});

describe("TikTok Shop", () => {
  it("the preset tiktok-shop needs an app key without a placeholder", () => {
    expect(() => tiktokShop({ secret: SECRET, appKey: undefined })).toThrow("tiktok-shop: `appKey`: got none");
    expect(() => tiktokShop({ secret: SECRET, appKey: "{body}" })).toThrow("tiktok-shop: `appKey`");
  });

  it("a success of TikTok Shop gets 200 without a body", () => {
    const { contract } = openPreset(tiktokShop({ secret: SECRET, appKey: "38abcd" }));
    expect(contract.respond?.({ kind: "success", result: {} })).toMatchObject({ status: 200, body: "" });
  });
});

describe("Walmart's event at the top of the body", () => {
  it("an event of Walmart at the top of the body has its id and type there", async () => {
    const body = JSON.stringify({ eventType: "INVENTORY_OOS", eventId: "a1", payload: {} });
    const signed = `POST\n/api/source/callback?shop=1\n${SECONDS}\n${sha256(body)}`;
    const headers = { "WM_SEC.TIMESTAMP": SECONDS, "WM_SEC.SIGNATURE": hmac(signed, "base64") };
    const request = requestOf(body, { headers, target: "/api/source/callback?shop=1" });
    const [event] = await verifiedEvents(walmart({ secret: SECRET }), request);
    expect([event?.eventId, event?.typeOf()]).toEqual(["a1", "INVENTORY_OOS"]);
  });
});
