import { symmetric } from "retell-sdk/lib/webhook_auth";
import { retell } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

export const retellProof: PlatformProof = {
  preset: "retell",
  by: "retell-sdk, symmetric.sign and symmetric.verify, which Retell.verify calls",
  secrets: ["key_of_the_webhook_badge", "key_before_it", "key_of_long_ago"],
  source: (secrets) => retell({ secret: secrets }),
  async callback({ secret, id, now }) {
    const payload = JSON.stringify({
      event: "call_ended",
      call: { call_id: id, call_type: "web_call", transcript: "Agent: Grüß Gott" },
    });
    return {
      headers: {
        "x-retell-signature": await symmetric.sign(payload, secret, now.getTime()),
        "content-type": "application/json",
      },
      body: Buffer.from(payload),
    };
  },
  accepts: ({ headers, body }, { secret }) =>
    symmetric.verify(Buffer.from(body).toString(), secret, headers["x-retell-signature"] ?? ""),
  toleranceSeconds: 300,
};
