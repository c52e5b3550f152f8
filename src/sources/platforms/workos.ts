import { hmacPreset } from "../presets/hmac-preset.ts";
import { timedFields } from "../presets/standard.ts";

/**
 * WorkOS. The SDK refuses what is older than 180 s. Whether a retry has a new time is not documented, so no age is
 * checked here. The signed id keeps out replays. Source: workos-node `src/common/crypto/signature-provider.ts`;
 * https://workos.com/docs/events/data-syncing/webhooks.
 */
export const workos = hmacPreset("workos", {
  title: "WorkOS",
  docs: "https://workos.com/docs/events/data-syncing/webhooks",
  proof: "signs",
  retryHours: 72,
  signature: timedFields("WorkOS-Signature"),
  signed: "{timestamp}.{body}",
  timestamp: { unit: "milliseconds", toleranceSeconds: null },
  id: "body.id",
  type: "body.event",
  eventTime: { at: "body.created_at", unit: "iso" },
  hasSignedTime: true,
});
