import { LinearWebhookClient } from "@linear/sdk/webhooks";
import { linear } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const linearProof: PlatformProof = {
  preset: "linear",
  by: "@linear/sdk, LinearWebhookClient.verify",
  secrets: ["lin_wh_first_of_the_three", "lin_wh_second_of_the_three", "lin_wh_third_of_the_three"],
  source: (secrets) => linear({ secret: secrets }),
  callback: (event) =>
    signedByPreset(linear({ secret: event.secret }), event, {
      headers: { "linear-delivery": event.id, "linear-event": "Issue" },
      body: JSON.stringify({
        action: "create",
        type: "Issue",
        data: { id: "539068e2-ae88-4d09-bd75-22eb4a59612f", title: `grüße, ${event.id}` },
        webhookTimestamp: event.now.getTime(),
        webhookId: "000042e3-d123-4980-b49f-8e140eef9329",
      }),
    }),
  accepts({ headers, body }, { secret, now }) {
    try {
      const signature = headers["linear-signature"] ?? "";
      return new LinearWebhookClient(secret).verify(Buffer.from(body), signature, now.getTime());
    } catch {
      return false;
    }
  },
  toleranceSeconds: null,
};
