import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * HubSpot, signature v3; the secret is the app's client secret. Source: @hubspot/api-client `src/utils/signature.ts`,
 * which signs the address as it is given; developers.hubspot.com, "Validating requests" and "Webhooks". Versions 1 and
 * 2 hash a text that holds the secret, and are refused. The age is not checked: nothing says whether a retry has a new
 * timestamp. `eventId` is "not guaranteed to be unique", so subscription, time and objects make it one; `attemptNumber`
 * differs in each retry.
 */
export const hubspot = hmacPreset("hubspot", {
  title: "HubSpot",
  docs: "https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation",
  proof: "signs",
  deadlineSeconds: 5,
  retryHours: 24,
  signature: { header: "X-HubSpot-Signature-v3", encoding: "base64" },
  signed: "{method}{decodedUrl}{body}{timestamp}",
  timestamp: { header: "X-HubSpot-Request-Timestamp", unit: "milliseconds", toleranceSeconds: null },
  batch: { at: "body" },
  id: [
    "{item.eventId}.{item.subscriptionId}.{item.occurredAt}.{item.objectId}",
    "{item.eventId}.{item.subscriptionId}.{item.occurredAt}.{item.fromObjectId}.{item.toObjectId}",
    "{item.eventId}.{item.subscriptionId}.{item.occurredAt}",
  ],
  type: "item.subscriptionType",
  eventTime: { at: "item.occurredAt", unit: "milliseconds" },
  hasSignedTime: true,
});
