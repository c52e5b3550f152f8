import { hmacPreset } from "../presets/hmac-preset.ts";
import { timedFields } from "../presets/standard.ts";

/**
 * ElevenLabs. The SDK refuses what is older than 30 minutes. The last of five attempts comes at least that long after
 * the first. Whether it has a new time is not documented. So no age is checked here: the signed id keeps out replays.
 * An event of a call has no id: type and conversation name it; any other has the body's hash. Source:
 * @elevenlabs/elevenlabs-js `src/wrapper/webhooks.ts`; ElevenLabs, "Post-call webhooks" and "Webhooks" (retry
 * schedule). A public catalogue says Standard Webhooks, which the SDK contradicts.
 */
export const elevenlabs = hmacPreset("elevenlabs", {
  title: "ElevenLabs",
  docs: "https://elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks",
  proof: "verifies",
  // With retries switched on: after 30 seconds, 2, 8 and 30 minutes.
  retryHours: 0.68,
  // `post_call_audio` has the MP3 of a whole call in base64: 40 minutes at 128 kbit/s. No limit is documented.
  maxBodyBytes: 50_000_000,
  disables: "10 failures in a row, without a success for 7 days",
  signature: timedFields("ElevenLabs-Signature", "v0"),
  signed: "{timestamp}.{body}",
  timestamp: { unit: "seconds", toleranceSeconds: null },
  id: ["{body.type}.{body.data.conversation_id}", "sha256"],
  type: "body.type",
  eventTime: { at: "body.event_timestamp", unit: "seconds" },
});
