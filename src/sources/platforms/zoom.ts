import { hmacPreset } from "../presets/hmac-preset.ts";
import type { FixedSecretOptions } from "../presets/secrets.ts";

/**
 * Zoom: the key is the app's secret token. Zoom sends `endpoint.url_validation`, signed, to a new endpoint, and to
 * every one each 72 hours. The endpoint must prove that it knows the secret. It is not documented that a retry has a
 * new timestamp, so the age is not checked. Source: @zoom/rivet `CommonHttpRequest`; Zoom, "Using webhooks".
 */
export const zoom = hmacPreset<FixedSecretOptions>("zoom", {
  docs: "https://developers.zoom.us/docs/api/webhooks/",
  proof: "verifies",
  identity: { why: "no id; the body has `event_ts` in milliseconds" },
  deadlineSeconds: 3,
  // After 5, 20 and 60 minutes.
  retryHours: 1.5,
  signature: { header: "x-zm-signature", encoding: "hex", prefix: "v0=" },
  signed: "v0:{timestamp}:{body}",
  timestamp: { header: "x-zm-request-timestamp", unit: "seconds", toleranceSeconds: null },
  id: "sha256",
  type: "body.event",
  eventTime: { at: "body.event_ts", unit: "milliseconds" },
  handshakes: [
    {
      isSigned: true,
      when: { "body.event": "endpoint.url_validation" },
      reply: {
        kind: "json",
        fields: {
          plainToken: "body.payload.plainToken",
          encryptedToken: { hmac: "body.payload.plainToken", encoding: "hex" },
        },
      },
    },
  ],
});
