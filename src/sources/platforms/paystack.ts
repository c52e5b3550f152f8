import { isJsonObject, ownValue } from "../../domain/index.ts";
import type { Readable } from "../contract/reading.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

/** They may come again with the id of one object, and a time: a failed transfer that is tried again. */
const REPEATED = ["invoice.update", "transfer.failed"];
/** They may come again for one object, and nothing but a `cancelledAt` tells two of them apart. */
const UNTIMED = [
  "charge.dispute.remind",
  "customeridentification.failed",
  "dedicatedaccount.assign.failed",
  "subscription.disable",
  "subscription.not_renew",
];

function resourceId(from: Readable): string | undefined {
  const { body } = from;
  const data = ownValue(body, "data");
  if (!isJsonObject(body) || !isJsonObject(data) || REPEATED.includes(String(body.event))) return undefined;
  if (UNTIMED.includes(String(body.event))) return data.cancelledAt ? undefined : from.delivery();
  const id = ownValue(data, "id");
  return Number.isSafeInteger(id) || typeof id === "string" ? `${body.event}.${id}` : undefined;
}

/**
 * Paystack: the key is the API's secret key. An event has no id: type and `data.id` name it. The body's hash names it
 * where the object has none (invoices) or comes again. Each delivery of bytes that may mean two events is an event: a
 * loss is worse than a second run. It tries again every three minutes four times, then each hour for 72 hours, where
 * the response is not 200. Source: Paystack, "Webhooks" (Verifying event origin; Go live checklist).
 */
export const paystack = hmacPreset("paystack", {
  docs: "https://paystack.com/docs/payments/webhooks/",
  identity: { why: "reminders, failures and ends of subscriptions without a time are an event at each delivery" },
  deadlineSeconds: 30,
  retryHours: 72,
  algorithm: "sha512",
  signature: { header: "x-paystack-signature", encoding: "hex" },
  id: [resourceId, "sha256"],
  isIdSigned: true,
  type: "body.event",
});
