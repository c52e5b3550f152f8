import { propertyName } from "../contract/reading.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";
import { timedFields } from "../presets/standard.ts";

/**
 * Recharge: the key is the API client secret. Times that are 48 hours off are refused, as Recharge asks. The legacy
 * `X-Recharge-Hmac-Sha256`, a plain hash, is not read. The body is the same for `charge/created` and `charge/upcoming`,
 * which are two events. Source: Recharge, "Webhooks" (Validating webhooks; Webhook retries).
 */
export const recharge = hmacPreset("recharge", {
  docs: "https://developer.rechargepayments.com/2021-11/webhooks_endpoints/webhooks_available",
  identity: { why: "no id; the body has the object and its `updated_at`, for several topics" },
  deadlineSeconds: 5,
  retryHours: 48,
  disables: "20 failed tries within 48 hours delete the webhook",
  signature: timedFields("X-Recharge-Webhook-Signature"),
  signed: "{timestamp}.{body}",
  timestamp: { unit: "seconds", toleranceSeconds: 172_800 },
  // `charge`: the property that holds the resource.
  id: "sha256",
  bytesScope: "header.X-Recharge-Topic",
  type: propertyName(() => true),
  renewsTimestamp: true,
});
