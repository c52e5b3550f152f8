import { standardPreset } from "../presets/standard.ts";
import { whsecKey } from "../schemes/secret-keys.ts";

/**
 * Polar: the key is the UTF-8 bytes of the whole secret, or what Standard Webhooks makes of it. The SDK takes both.
 * Source: @polar-sh/sdk `src/webhooks.ts`; https://polar.sh/docs/integrate/webhooks/delivery.
 */
export const polar = standardPreset("polar", {
  docs: "https://polar.sh/docs/integrate/webhooks/delivery",
  proof: "verifies",
  deadlineSeconds: 10,
  disables: "10 deliveries in a row fail",
  key: polarKeys,
  type: "body.type",
  eventTime: { at: "body.timestamp", unit: "iso" },
  hasSignedTime: true,
});

function polarKeys(secret: string): Uint8Array[] {
  const text = Buffer.from(secret, "utf8");
  const decoded = whsecKey(secret);
  return decoded === undefined || decoded.length === 0 ? [text] : [text, decoded];
}
