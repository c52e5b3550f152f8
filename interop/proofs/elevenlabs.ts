import { WebhooksClient } from "@elevenlabs/elevenlabs-js/wrapper/webhooks.js";
import { elevenlabs } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

const sdk = new WebhooksClient();

export const elevenlabsProof: PlatformProof = {
  preset: "elevenlabs",
  by: "@elevenlabs/elevenlabs-js, webhooks.constructEvent",
  secrets: ["wsec_of_the_webhook", "wsec_before_it", "wsec_of_long_ago"],
  source: (secrets) => elevenlabs({ secret: secrets }),
  callback: (event) =>
    signedByPreset(elevenlabs({ secret: event.secret }), event, {
      body: JSON.stringify({
        type: "post_call_transcription",
        event_timestamp: Math.floor(event.now.getTime() / 1000),
        data: { agent_id: "agent_1", conversation_id: event.id, status: "done", summary: "grüße" },
      }),
    }),
  async accepts({ headers, body }, { secret }) {
    const signature = headers["elevenlabs-signature"] ?? "";
    try {
      await sdk.constructEvent(Buffer.from(body).toString(), signature, secret);
      return true;
    } catch {
      return false;
    }
  },
  toleranceSeconds: null,
};
