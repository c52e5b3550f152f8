import { sign } from "@octokit/webhooks-methods";
import { github } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

export const githubProof: PlatformProof = {
  preset: "github",
  by: "@octokit/webhooks-methods, sign",
  secrets: ["It's a Secret to Everybody", "a second secret of the hook", "a third secret of the hook"],
  source: (secrets) => github({ secret: secrets }),
  async callback({ secret, id }) {
    const payload = JSON.stringify({ action: "opened", issue: { number: 1, title: id } });
    return {
      headers: {
        "x-hub-signature-256": await sign(secret, payload),
        "x-github-delivery": id,
        "x-github-event": "issues",
        "content-type": "application/json",
      },
      body: Buffer.from(payload),
    };
  },
  vector: () => ({
    // GitHub Docs, "Validating webhook deliveries", "Testing the webhook payload validation".
    secret: "It's a Secret to Everybody",
    now: new Date(),
    request: {
      headers: {
        "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
      },
      body: Buffer.from("Hello, World!"),
    },
  }),
  toleranceSeconds: null,
};
