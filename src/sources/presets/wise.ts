import { isRefused } from "../../domain/index.ts";
import { parseObject } from "../contract/parse-body.ts";
import type { SourceDefinition } from "../source-definition.ts";
import { ofCustomer } from "./customer.ts";
import type { SecretOption } from "./given-secrets.ts";
import { type PublicKeyOptions, publicKeyPreset } from "./public-key-preset.ts";

export interface WiseOptions extends PublicKeyOptions {
  /**
   * The ids of your webhook subscriptions, as Wise shows them. Wise signs for all its customers with one key: without
   * them another customer can send you its events.
   */
  readonly subscriptionId?: SecretOption;
}

const unbound = publicKeyPreset({
  preset: "wise",
  facts: {
    title: "Wise",
    docs: "https://docs.wise.com/guides/developer/webhooks/event-handling",
    proof: "documented",
    identity: {
      why: "`X-Delivery-Id` identifies the delivery attempt; `sent_at` may be the attempt's too",
      source: "https://docs.wise.com/api-reference/webhook-event/eventtransfersstatechange",
    },
    deadlineSeconds: 5,
    retryHours: 336,
  },
  scheme: {
    algorithm: "rsa-sha256",
    signature: { header: "X-Signature-SHA256", encoding: "base64" },
    signed: "{body}",
  },
  contract: {
    id: "header.X-Delivery-Id",
    identity: "bytes",
    attemptFields: ["body.sent_at"],
    type: "body.event_type",
    eventTime: { at: "body.data.occurred_at", unit: "iso" },
    handshakes: [
      {
        isSigned: true,
        when: { "header.X-Test-Notification": "true" },
        reply: { kind: "status", status: 200 },
      },
    ],
  },
});

/**
 * Wise: `X-Signature-SHA256`, RSA-SHA256 in base64 over the body; the key is the public key of the environment, which
 * Wise publishes. `X-Delivery-Id` is not signed: a "unique identifier for this webhook delivery attempt". When a
 * subscription is made a test is sent, with `X-Test-Notification`.
 * The signed `subscription_id` must be one of `subscriptionId`; the test comes before that is known.
 * Source: docs.wise.com, "How to create a webhook event handler" (2xx within 5 s, 25 tries in two weeks);
 * transferwise/digital-signatures-examples `verify-webhook-signature`.
 * @throws TypeError that names the option that is wrong
 */
export function wise(options: WiseOptions): SourceDefinition {
  // A call without options is refused there.
  if (typeof options !== "object" || options === null) return unbound(options);
  const { subscriptionId: _, ...others } = options;
  return ofCustomer(unbound(others), options, {
    option: "subscriptionId",
    name: "subscription_id",
    idIn({ body }) {
      const parsed = parseObject(body);
      return isRefused(parsed) ? undefined : parsed.object.subscription_id;
    },
    isQuestion: ({ headers }) => headers["x-test-notification"]?.[0] === "true",
  });
}

wise.describe = unbound.describe;
wise.takesPublicKey = true;
