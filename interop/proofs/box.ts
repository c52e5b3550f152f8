import { WebhooksManager } from "box-node-sdk/lib/managers/webhooks";
import { box } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const boxProof: PlatformProof = {
  preset: "box",
  by: "box-node-sdk, WebhooksManager.validateMessage; the message of its own test",
  secrets: ["SamplePrimaryKey", "SampleSecondaryKey", "a key that is rotated out"],
  source: (secrets) => box({ secret: secrets }),
  callback: (event) =>
    signedByPreset(box({ secret: event.secret }), event, {
      headers: { "box-signature-version": "1", "box-signature-algorithm": "HmacSHA256" },
      body: JSON.stringify({
        type: "webhook_event",
        id: event.id,
        created_at: event.now.toISOString(),
        trigger: "FILE.UPLOADED",
        webhook: { id: "53", type: "webhook" },
        source: { id: "73835521473", type: "file", name: "grüße.txt" },
      }),
    }),
  async accepts({ headers, body }, { secret }) {
    const text = Buffer.from(body).toString();
    const asPrimary = await WebhooksManager.validateMessage(text, { ...headers }, secret);
    const { "box-signature-primary": signature = "", ...others } = headers;
    const moved = { ...others, "box-signature-secondary": signature };
    const asSecondary = await WebhooksManager.validateMessage(text, moved, "", { secondaryKey: secret });
    return asPrimary && asSecondary;
  },
  vector: () => ({
    // The message of the SDK's own test; the first header is made with another key.
    secret: "SampleSecondaryKey",
    now: new Date("2020-01-01T00:00:00-07:00"),
    request: {
      headers: {
        "box-delivery-timestamp": "2020-01-01T00:00:00-07:00",
        "box-signature-primary": "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=",
        "box-signature-secondary": "v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=",
      },
      body: Buffer.from(
        '{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED",' +
          '"source":{"id":"1234567890","type":"file","name":"Test.txt"}}',
      ),
    },
  }),
  toleranceSeconds: 600,
};
