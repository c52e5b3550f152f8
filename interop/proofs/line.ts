import { validateSignature } from "@line/bot-sdk";
import { line } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const lineProof: PlatformProof = {
  preset: "line",
  by: "@line/bot-sdk, validateSignature",
  secrets: ["8c570fa6dd201bb328f1c1eac23a96d8", "1f0e6b3c5a7d49e2b8c4d6f0a1e3b5c7", "9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a"],
  source: (secrets) => line({ secret: secrets }),
  callback: (event) =>
    signedByPreset(line({ secret: event.secret }), event, {
      body: JSON.stringify({
        destination: "xxxxxxxxxx",
        events: [
          {
            type: "message",
            message: { type: "text", id: "14353798921116", text: "こんにちは" },
            timestamp: event.now.getTime(),
            source: { type: "user", userId: "U80696558e1aa831" },
            webhookEventId: event.id,
            deliveryContext: { isRedelivery: false },
            mode: "active",
          },
        ],
      }),
    }),
  accepts: ({ headers, body }, { secret }) =>
    validateSignature(Buffer.from(body), secret, headers["x-line-signature"] ?? ""),
  toleranceSeconds: null,
  handshakes: [
    {
      title: "is the address yours (no events)",
      request: (event) =>
        signedByPreset(line({ secret: event.secret }), event, {
          body: JSON.stringify({ destination: "xxxxxxxxxx", events: [] }),
        }),
      response: { status: 200 },
    },
  ],
};
