import { Paddle } from "@paddle/paddle-node-sdk";
import { paddle } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

const sdk = new Paddle("unused");

export const paddleProof: PlatformProof = {
  preset: "paddle",
  by: "@paddle/paddle-node-sdk, webhooks.isSignatureValid",
  secrets: ["pdl_ntfset_01first_of_them", "pdl_ntfset_01second_of_them", "pdl_ntfset_01third_of_them"],
  source: (secrets) => paddle({ secret: secrets }),
  callback: (event) =>
    signedByPreset(paddle({ secret: event.secret }), event, {
      body: JSON.stringify({
        event_id: event.id,
        event_type: "transaction.completed",
        occurred_at: event.now.toISOString(),
        notification_id: "ntf_01h8bkrfe7w1vwf8xmytwn51e7",
        data: { id: "txn_01h8bkrfe7w1vwf8xmytwn51e7", custom: "grüße" },
      }),
    }),
  accepts: ({ headers, body }, { secret }) =>
    sdk.webhooks.isSignatureValid(Buffer.from(body).toString(), secret, headers["paddle-signature"] ?? ""),
  toleranceSeconds: 300,
};
