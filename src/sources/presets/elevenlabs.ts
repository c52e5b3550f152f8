import { hmacPreset } from "./preset.ts";

/**
 * ElevenLabs: `ElevenLabs-Signature: t=…,v0=…`, HMAC-SHA256 over `t.body`. The SDK takes times up to 30 minutes old. An
 * event of a call has no id: type and conversation name it; any other has the body's hash.
 * Source: @elevenlabs/elevenlabs-js `src/wrapper/webhooks.ts`; ElevenLabs, "Post-call webhooks". A public catalogue says
 * Standard Webhooks, which the SDK contradicts.
 */
export const elevenlabs = hmacPreset({
  preset: "elevenlabs",
  facts: {
    title: "ElevenLabs",
    docs: "https://elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks",
    proof: "documented",
  },
  scheme: {
    signature: {
      header: "ElevenLabs-Signature",
      encoding: "hex",
      fields: { separator: ",", assignment: "=", value: "v0", timestamp: "t" },
    },
    signed: "{timestamp}.{body}",
    timestamp: { unit: "seconds", toleranceSeconds: 1_800, direction: "past" },
  },
  contract: {
    id: ["{body.type}.{body.data.conversation_id}", "sha256"],
    type: "body.type",
    timestamp: { at: "body.event_timestamp", unit: "seconds" },
  },
});
