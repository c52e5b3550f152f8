import type { ReconcileOptions } from "../reconcile/reconciliation.ts";
import { stripeEvents } from "../reconcile/stripe-events.ts";
import { hmacPreset, type PresetOptions } from "./preset.ts";

export interface StripeOptions extends PresetOptions {
  /** Finds the events that never arrived: docs/reconcile.md. */
  readonly reconcile?: ReconcileOptions;
}

/**
 * Stripe: `Stripe-Signature: t=…,v1=…`, HMAC-SHA256 over `t.body`. The whole secret is the key, `whsec_` included.
 * Source: stripe-node `src/Webhooks.ts`; https://docs.stripe.com/webhooks/signature. The SDK accepts times in the
 * future; so does this preset. While a secret is rolled Stripe sends one `v1` for each.
 */
export const stripe = hmacPreset<StripeOptions>({
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
    signature: {
      header: "Stripe-Signature",
      encoding: "hex",
      fields: { separator: ",", assignment: "=", value: "v1", timestamp: "t" },
    },
    signed: "{timestamp}.{body}",
    timestamp: { unit: "seconds", toleranceSeconds: 300, direction: "past" },
  },
  contract: {
    id: "body.id",
    type: "body.type",
    timestamp: { at: "body.created", unit: "seconds" },
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
      data: { object: { id: "obj_sample", object: type.slice(0, type.lastIndexOf(".")) || type } },
    },
  }),
});
