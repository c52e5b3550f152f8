import { createHash } from "node:crypto";
import { AccessToken, WebhookReceiver } from "livekit-server-sdk";
import { livekit } from "../../src/sources/platforms/index.ts";
import { atTime } from "../at-time.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

const API_KEY = "APIcR6NxGcRnNjh";

/** livekit/protocol webhook/url_notifier.go: a token of five minutes. */
async function signed(body: Uint8Array, { secret, now }: ProofEvent): Promise<ProofRequest> {
  const token = new AccessToken(API_KEY, secret, { ttl: 300 });
  token.sha256 = createHash("sha256").update(body).digest("base64");
  const authorization = await atTime(now, () => token.toJwt());
  return { headers: { authorization, "content-type": "application/webhook+json" }, body };
}

export const livekitProof: PlatformProof = {
  preset: "livekit",
  by: "livekit-server-sdk, AccessToken and WebhookReceiver",
  secrets: [
    "a-secret-of-now-that-has-32-bytes-or-more",
    "a-secret-of-before-that-has-32-bytes-or-more",
    "a-secret-of-long-ago-that-has-32-bytes-or-more",
  ],
  source: (secret) => livekit({ secret, apiKey: API_KEY }),
  signed,
  callback(event) {
    const createdAt = String(Math.floor(event.now.getTime() / 1000));
    const body = { event: "room_started", room: { sid: "RM_1", name: "room" }, id: event.id, createdAt };
    return signed(Buffer.from(JSON.stringify(body)), event);
  },
  accepts: ({ headers, body }, { secret }) =>
    new WebhookReceiver(API_KEY, secret).receive(Buffer.from(body).toString("utf8"), headers.authorization).then(
      () => true,
      () => false,
    ),
  // The token's five minutes and the tolerance for clocks.
  toleranceSeconds: 310,
};
