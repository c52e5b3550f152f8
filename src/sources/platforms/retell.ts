import { onceOf } from "../contract/locate.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";
import { timedFields } from "../presets/standard.ts";

/** They come once for a call; others, such as a repeated analysis, may come several times. */
const ONCE = ["call_started", "call_ended"];

/**
 * Retell AI: the key is the API key that has the webhook badge. As in the SDK, a time five minutes off is refused.
 * Whether a retry has a new one is not documented. Source: retell-sdk `src/lib/webhook_auth.ts`; Retell, "Secure the
 * webhook" and "Webhook overview" (up to three tries).
 */
export const retell = hmacPreset("retell", {
  title: "Retell AI",
  docs: "https://docs.retellai.com/features/secure-webhook",
  proof: "signs",
  deadlineSeconds: 10,
  // A transcript has each word with its times; no limit is documented.
  maxBodyBytes: 10_000_000,
  signature: timedFields("X-Retell-Signature", "d", "v"),
  signed: "{body}{timestamp}",
  timestamp: { unit: "milliseconds", toleranceSeconds: 300 },
  id: [onceOf("body.call.call_id", ONCE), "sha256"],
  isIdSigned: true,
  type: "body.event",
});
