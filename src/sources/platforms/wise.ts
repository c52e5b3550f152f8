import { isRefused } from "../../domain/index.ts";
import { parseObject } from "../formats/parse-body.ts";
import { optionsPreset } from "../presets/preset.ts";
import { type PublicKeyOptions, publicKeyParts } from "../presets/public-key-preset.ts";
import { requiredTexts, type SecretOption } from "../presets/secrets.ts";
import type { SignedRequest } from "../request.ts";
import type { PublicKeyData } from "../schemes/public-key.ts";
import { refuse, type Scheme } from "../schemes/scheme.ts";

export interface WiseOptions extends PublicKeyOptions {
  /**
   * The ids of your webhook subscriptions, as Wise shows them. Wise signs for all its customers with one key: without
   * them another customer can send you its events.
   */
  readonly subscriptionId?: SecretOption;
}

const SCHEME: PublicKeyData = {
  algorithm: "rsa-sha256",
  signature: { header: "X-Signature-SHA256", encoding: "base64" },
  signed: "{body}",
};

/**
 * Wise: the key is the public key of the environment, which Wise publishes. `X-Delivery-Id` is not signed: a "unique
 * identifier for this webhook delivery attempt". When a subscription is made a test is sent, with
 * `X-Test-Notification`. The signed `subscription_id` must be one of `subscriptionId`; the test comes before that is
 * known. Source: docs.wise.com, "How to create a webhook event handler" (2xx within 5 s, 25 tries in two weeks);
 * transferwise/digital-signatures-examples `verify-webhook-signature`.
 */
export const wise = optionsPreset<WiseOptions>("wise", {
  docs: "https://docs.wise.com/guides/developer/webhooks/event-handling",
  identity: {
    key: "bytes",
    why: "`X-Delivery-Id` identifies the delivery attempt; `sent_at` may be the attempt's too",
    source: "https://docs.wise.com/api-reference/webhook-event/eventtransfersstatechange",
  },
  deadlineSeconds: 5,
  retryHours: 336,
  signs: SCHEME,
  takesPublicKey: true,
  id: "header.X-Delivery-Id",
  attemptFields: ["body.sent_at"],
  type: "body.event_type",
  eventTime: { at: "body.data.occurred_at", unit: "iso" },
  handshakes: [
    { isSigned: true, when: { "header.X-Test-Notification": "true" }, reply: { kind: "status", status: 200 } },
  ],
  options: { publicKey: "required", subscriptionId: "optional" },
  make(options) {
    const parts = publicKeyParts(SCHEME, options);
    if (!Object.hasOwn(options, "subscriptionId")) return { ...parts, open: "set `subscriptionId` to yours" };
    const ids = requiredTexts(options.subscriptionId, "subscriptionId");
    return { ...parts, scheme: (environment) => ofSubscriptions(ids, parts.scheme(environment)) };
  },
});

/** Wise signs for all its customers with one key: only what names a subscription of ours is ours. */
function ofSubscriptions(ids: readonly string[], scheme: Scheme): Scheme {
  return {
    ...scheme,
    async verify(request) {
      const result = await scheme.verify(request);
      const isTest = request.headers["x-test-notification"]?.[0] === "true";
      if (!("verified" in result) || isTest || ids.includes(subscriptionIn(request))) return result;
      const detail = "`subscription_id`: none of `subscriptionId`; Wise signs for all its customers with one key";
      return refuse("signature_mismatch", detail);
    },
  };
}

function subscriptionIn({ body }: SignedRequest): string {
  const parsed = parseObject(body);
  const id = isRefused(parsed) ? undefined : parsed.object.subscription_id;
  return typeof id === "string" ? id : "";
}
