import { signWebhookPayload } from "@notionhq/client";
import { notion } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

export const notionProof: PlatformProof = {
  preset: "notion",
  by: "@notionhq/client, signWebhookPayload",
  secrets: ["secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl", "secret_of_a_second", "secret_of_a_third"],
  source: (secrets) => notion({ secret: secrets }),
  async callback({ secret, id, now }) {
    const event = {
      id,
      timestamp: now.toISOString(),
      type: "page.created",
      entity: { id: "153104cd-477e-809d-8dc4-ff2d96ae3090", type: "page" },
    };
    const body = Buffer.from(JSON.stringify(event));
    return {
      headers: {
        "x-notion-signature": await signWebhookPayload({ body, verificationToken: secret }),
        "content-type": "application/json",
      },
      body,
    };
  },
  toleranceSeconds: null,
  learns: true,
  handshakes: [
    {
      title: "the verification token of a new subscription",
      request: ({ secret }) => ({
        headers: { "content-type": "application/json" },
        body: Buffer.from(JSON.stringify({ verification_token: secret })),
      }),
      response: { status: 200 },
    },
  ],
};
