import { ownValue } from "../../../domain/index.ts";
import type { Readable } from "../../contract/reading.ts";
import { hmacPreset, type ReconcilingOptions } from "../../presets/hmac-preset.ts";
import { timedFields } from "../../presets/standard.ts";
import { stripeEvents } from "./stripe-events.ts";

export type { ReconcilingOptions as StripeOptions } from "../../presets/hmac-preset.ts";

/**
 * Stripe: the whole secret is the key, `whsec_` included. The SDK accepts times in the future; so does this preset.
 * While a secret is rolled Stripe sends one `v1` for each. Test events of its dashboard share one id, which gets the
 * signed time behind it. Source: stripe-node `src/Webhooks.ts`; https://docs.stripe.com/webhooks/signature.
 */
export const stripe = hmacPreset<ReconcilingOptions>("stripe", {
  docs: "https://docs.stripe.com/webhooks/signature",
  proof: "signs",
  // Not documented: Stripe asks for a response before any complex logic.
  deadlineSeconds: 10,
  retryHours: 72,
  renewsTimestamp: true,
  signature: timedFields("Stripe-Signature"),
  signed: "{timestamp}.{body}",
  timestamp: { unit: "seconds", toleranceSeconds: 300, direction: "past" },
  id: [testEventId, "body.id"],
  isIdSigned: true,
  type: "body.type",
  eventTime: { at: "body.created", unit: "seconds" },
  hasSignedTime: true,
  reconcile: stripeEvents,
  // An API key would verify nothing.
  secretFault: (secret) =>
    /^[srp]k_/.test(secret) ? { got: "an API key", expected: "the endpoint's signing secret (whsec_…)" } : undefined,
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
