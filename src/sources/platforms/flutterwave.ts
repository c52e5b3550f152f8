import { isJsonObject } from "../../domain/index.ts";
import type { Readable } from "../contract/reading.ts";
import { tokenOrSignaturePreset } from "../presets/token-preset.ts";

/** The plan of a customer may be cancelled again, in equal bytes. A second run at a retry is better than a loss. */
function cancellationId(from: Readable): string | undefined {
  const { body } = from;
  return isJsonObject(body) && body.event === "subscription.cancelled" ? from.delivery() : undefined;
}

/**
 * Flutterwave v4: the key is the secret hash of the dashboard. Version 3 sends that hash as it is, and signs nothing:
 * `verify: "token"`. An event may come again: type, object and status name it. Source: Flutterwave, "Webhooks" (Best
 * practices: verify signatures, rely on idempotency). The form of v4's signature is also what public handlers compare.
 */
export const flutterwave = tokenOrSignaturePreset("flutterwave", {
  docs: "https://developer.flutterwave.com/docs/webhooks",
  identity: { why: "`subscription.cancelled` has no id and no time: an event at each delivery" },
  id: [
    "{body.type}.{body.data.id}.{body.data.status}",
    "{body.event}.{body.data.id}.{body.data.status}",
    cancellationId,
    "sha256",
  ],
  isIdSigned: true,
  type: ["body.type", "body.event"],
  usual: "signature",
  signature: { header: "flutterwave-signature", encoding: "base64" },
  token: { header: "verif-hash" },
});
