import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Zendesk: the operator writes the body of a trigger, and its `id` may be a ticket's. So an invocation's id names the
 * event, though it is not signed: the same text may come again. It documents no age; the type of a trigger is `webhook`
 * unless its body has a `type`. Source: Zendesk, "Verifying webhook authenticity".
 */
export const zendesk = hmacPreset("zendesk", {
  docs: "https://developer.zendesk.com/documentation/webhooks/verifying/",
  identity: {
    why: "an invocation keeps its id over its attempts",
    source: "https://developer.zendesk.com/api-reference/webhooks/webhooks-api/webhooks/",
  },
  deadlineSeconds: 12,
  disables: "a breaker pauses an endpoint at 70 % of errors",
  signature: { header: "X-Zendesk-Webhook-Signature", encoding: "base64" },
  signed: "{timestamp}{body}",
  timestamp: { header: "X-Zendesk-Webhook-Signature-Timestamp", unit: "iso", toleranceSeconds: null },
  body: "json-or-form",
  id: ["header.X-Zendesk-Webhook-Invocation-Id", "sha256"],
  type: ["body.type", "=webhook"],
  eventTime: { at: "header.X-Zendesk-Webhook-Signature-Timestamp", unit: "iso", isSigned: true },
  headers: ["X-Zendesk-Webhook-Id", "X-Zendesk-Account-Id"],
});
