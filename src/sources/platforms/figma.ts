import { ownValue } from "../../domain/index.ts";
import { bodyTokenPreset } from "../presets/token-preset.ts";

/**
 * Figma's webhooks v2, with the `passcode` that you chose for the webhook. A new webhook sends a `PING`. The body's
 * time is "of when the event was triggered". Source: Figma REST API, "Webhooks" (V2); figma/rest-api-spec
 * `openapi/openapi.yaml`, WebhookBasePayload.
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
