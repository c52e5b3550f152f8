import { echoOf } from "../contract/handshakes.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Nylas v3: the body is signed as it was sent, compressed where the webhook asks for gzip. The id stays on a retry.
 * Nylas retries only after 408, 429, 502 and 503, so that every 500 is a 503. Source: Nylas, "Using webhooks with
 * Nylas" and "Retry and debug failed webhooks".
 */
export const nylas = hmacPreset("nylas", {
  docs: "https://developer.nylas.com/docs/v3/notifications/",
  deadlineSeconds: 10,
  retryHours: 72,
  disables: "95 % of failures for 15 minutes mark it as failing, and 72 hours of that end it",
  signature: { header: "x-nylas-signature", encoding: "hex" },
  gzip: true,
  id: "body.id",
  type: "body.type",
  eventTime: { at: "body.time", unit: "seconds" },
  handshakes: [echoOf("query.challenge", "GET")],
  responses: { statuses: { 500: 503 } },
});
