import { tokenPreset } from "../presets/token-preset.ts";

/**
 * Okta's event hooks, with the text in `Authorization` that was given to Okta. Each callback holds several events of
 * the System Log. The address is checked once by GET. Source: https://developer.okta.com/docs/concepts/event-hooks/.
 */
export const okta = tokenPreset("okta", {
  docs: "https://developer.okta.com/docs/concepts/event-hooks/",
  deadlineSeconds: 3,
  header: "Authorization",
  id: "item.uuid",
  type: "item.eventType",
  eventTime: { at: "item.published", unit: "iso" },
  batch: { at: "body.data.events" },
  handshakes: [
    {
      isSigned: false,
      method: "GET",
      when: { "header.X-Okta-Verification-Challenge": true },
      reply: { kind: "json", fields: { verification: "header.X-Okta-Verification-Challenge" } },
    },
  ],
  // "Should all be empty", with 200 or 204.
  responses: { received: { status: 200 } },
});
