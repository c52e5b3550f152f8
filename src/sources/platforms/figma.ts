import { ownValue } from "../../domain/index.ts";
import { bodyTokenPreset } from "../presets/token-preset.ts";

/**
 * Figma's webhooks v2: the `passcode` that you chose with the webhook stands in the body; nothing is signed. A new
 * webhook sends a `PING`. An event has no id. The body's hash takes its place; it covers the event's time ("of when the
 * event was triggered"). Source: Figma REST API, "Webhooks" (V2); figma/rest-api-spec `openapi/openapi.yaml`,
 * WebhookBasePayload.
 */
export const figma = bodyTokenPreset("figma", {
  docs: "https://developers.figma.com/docs/rest-api/webhooks/",
  identity: { why: "no id; the body has its time, and counts its `retries`" },
  name: "passcode",
  read: (body) => [ownValue(body, "passcode")],
  id: "sha256",
  attemptFields: ["body.retries"],
  type: "body.event_type",
  eventTime: { at: "body.timestamp", unit: "iso" },
  handshakes: [{ isSigned: true, when: { "body.event_type": "PING" }, reply: { kind: "status", status: 200 } }],
});
