import { isJsonObject } from "../../../domain/index.ts";
import type { Readable } from "../../contract/reading.ts";
import { secretPreset } from "../../presets/secret-preset.ts";
import { createAdyenItemsScheme, REPORT, signAdyenItems } from "./adyen-scheme.ts";

/** A report's `pspReference` is the name of its file, which several accounts of a company have. */
function reportId({ item }: Readable): string | undefined {
  if (!isJsonObject(item) || item.eventCode !== REPORT) return undefined;
  return [item.pspReference, REPORT, item.success, item.merchantAccountCode].join(".");
}

/**
 * Adyen, standard webhooks (payments): `additionalData.hmacSignature` of each item, by a key in hex. Note that **most
 * fields are unsigned**: read what else moves money from Adyen's API. Keep the previous key while a new one spreads.
 * Adyen's other webhooks are `adyen-platform`. Source: adyen-node-api-library `src/utils/hmacValidator.ts`;
 * docs.adyen.com, "Verify HMAC signatures", "Handle webhook events" and "Troubleshoot webhooks".
 */
export const adyen = secretPreset("adyen", {
  docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
  proof: "signs",
  deadlineSeconds: 10,
  retryHours: 720,
  unsigned: "all fields of an item but its references, amount, eventCode and success",
  signs: "HMAC-SHA256 over fields of each item, in the body",
  batch: { at: "body.notificationItems[].NotificationRequestItem" },
  id: [reportId, "{item.pspReference}.{item.eventCode}.{item.success}"],
  isIdSigned: true,
  type: "item.eventCode",
  eventTime: { at: "item.eventDate", unit: "iso", isSigned: false },
  responses: { received: { body: "[accepted]" } },
  credential: { fields: ["hmacSignature"] },
  signBody: signAdyenItems,
  scheme: createAdyenItemsScheme,
});
