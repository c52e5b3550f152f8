import { parse } from "gocardless-nodejs/webhooks";
import { gocardless } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const gocardlessProof: PlatformProof = {
  preset: "gocardless",
  by: "gocardless-nodejs, webhooks.parse",
  secrets: ["ED7D658C-D8EB-4941-948B-3973214F2D49", "a second webhook secret", "a third webhook secret"],
  source: (secrets) => gocardless({ secret: secrets }),
  callback: (event) =>
    signedByPreset(gocardless({ secret: event.secret }), event, {
      body: JSON.stringify({
        events: [
          {
            id: event.id,
            created_at: event.now.toISOString(),
            resource_type: "mandates",
            action: "cancelled",
            links: { mandate: "MD123" },
            details: { origin: "bank", cause: "mandate_cancelled", description: "résilié" },
          },
        ],
        meta: { webhook_id: "WB123" },
      }),
    }),
  accepts({ headers, body }, { secret }) {
    try {
      return parse(Buffer.from(body).toString(), secret, headers["webhook-signature"] ?? "").length === 1;
    } catch {
      return false;
    }
  },
  toleranceSeconds: null,
};
