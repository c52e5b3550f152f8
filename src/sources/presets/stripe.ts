import { type JsonObject, ownValue } from "../../domain/index.ts";
import type { Readable } from "../contract/reading.ts";
import { stripeEvents } from "../reconcile/stripe-events.ts";
import { hmacPreset, type ReconcilingOptions } from "./preset.ts";
import { timedFields } from "./standard.ts";

const COMMON = {
  livemode: false,
  created: 1_767_225_600,
  customer: "cus_sample",
  metadata: {},
  currency: "usd",
};
const PERIOD = { current_period_start: 1_767_225_600, current_period_end: 1_769_904_000 };
const PRICE = {
  id: "price_sample",
  object: "price",
  product: "prod_sample",
  unit_amount: 1_000,
  currency: "usd",
};

/** The objects of the events that most handlers are for. Source: https://docs.stripe.com/api, each object's page. */
const SAMPLES: Readonly<Record<string, JsonObject>> = {
  "invoice.paid": {
    ...{ id: "in_sample", object: "invoice", ...COMMON, number: "SAMPLE-0001", status: "paid" },
    ...{ amount_due: 1_000, amount_paid: 1_000, amount_remaining: 0, subtotal: 1_000, total: 1_000 },
    ...{
      billing_reason: "manual",
      collection_method: "charge_automatically",
      customer_email: "a@example.com",
    },
    lines: { object: "list", data: [], has_more: false, url: "/v1/invoices/in_sample/lines" },
  },
  "checkout.session.completed": {
    ...{ id: "cs_test_sample", object: "checkout.session", ...COMMON, mode: "payment", status: "complete" },
    ...{ payment_status: "paid", payment_intent: "pi_sample", subscription: null, client_reference_id: null },
    ...{ amount_subtotal: 1_000, amount_total: 1_000, customer_email: null },
    customer_details: { email: "a@example.com", name: null, phone: null },
  },
  "payment_intent.succeeded": {
    ...{ id: "pi_sample", object: "payment_intent", ...COMMON, status: "succeeded", amount: 1_000 },
    ...{ amount_received: 1_000, capture_method: "automatic", latest_charge: "ch_sample" },
    ...{
      payment_method: "pm_sample",
      payment_method_types: ["card"],
      description: null,
      receipt_email: null,
    },
  },
  "customer.subscription.updated": {
    ...{ id: "sub_sample", object: "subscription", ...COMMON, status: "active", start_date: 1_767_225_600 },
    ...{ cancel_at_period_end: false, cancel_at: null, canceled_at: null, latest_invoice: "in_sample" },
    items: {
      object: "list",
      data: [{ id: "si_sample", object: "subscription_item", quantity: 1, price: PRICE, ...PERIOD }],
      has_more: false,
    },
  },
};

/**
 * Stripe: `Stripe-Signature: t=…,v1=…`, HMAC-SHA256 over `t.body`. The whole secret is the key, `whsec_` included.
 * Source: stripe-node `src/Webhooks.ts`; https://docs.stripe.com/webhooks/signature. The SDK accepts times in the
 * future; so does this preset. While a secret is rolled Stripe sends one `v1` for each. Test events of its dashboard share
 * one id, which gets the signed time behind it.
 */
export const stripe = hmacPreset<ReconcilingOptions>({
  preset: "stripe",
  facts: {
    title: "Stripe",
    docs: "https://docs.stripe.com/webhooks/signature",
    proof: "signs",
    // Not documented: Stripe asks for a response before any complex logic.
    deadlineSeconds: 10,
    retryHours: 72,
    renewsTimestamp: true,
  },
  scheme: {
    signature: timedFields("Stripe-Signature"),
    signed: "{timestamp}.{body}",
    timestamp: { unit: "seconds", toleranceSeconds: 300, direction: "past" },
  },
  contract: {
    id: [testEventId, "body.id"],
    isIdSigned: true,
    type: "body.type",
    eventTime: { at: "body.created", unit: "seconds" },
    hasSignedTime: true,
  },
  reconcile: stripeEvents,
  // An API key would verify nothing.
  secretFault: (secret) =>
    /^[srp]k_/.test(secret) ? "got an API key, expected the endpoint's signing secret (whsec_…)" : undefined,
  sample: (type, id, now) => ({
    body: {
      id,
      object: "event",
      api_version: "2025-03-31.basil",
      created: Math.floor(now.getTime() / 1_000),
      type,
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      data: {
        object: SAMPLES[type] ?? { id: "obj_sample", object: type.slice(0, type.lastIndexOf(".")) || type },
      },
    },
  }),
});

const TEST_ID = /_0{14}$/;
const TIME = /(?:^|,)t=(\d{1,15})(?:,|$)/;

/** Each test event is one, although all have an id such as `evt_00000000000000`. */
function testEventId(from: Readable): string | undefined {
  const id = ownValue(from.body, "id");
  if (typeof id !== "string" || !TEST_ID.test(id)) return undefined;
  const [, time] = TIME.exec(String(from.header("stripe-signature"))) ?? [];
  return time === undefined ? id : `${id}.${time}`;
}
