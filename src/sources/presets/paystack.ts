import { randomUUID } from "node:crypto";
import { isJsonObject, ownValue } from "../../domain/index.ts";
import type { Readable } from "../contract/reading.ts";
import { hmacPreset } from "./preset.ts";

/** They may come again with the id of one object: a failed transfer that is tried again, a reminder of a dispute. */
const REPEATED = ["charge.dispute.remind", "invoice.update", "transfer.failed"];

function idOf({ body }: Readable): string | undefined {
  if (!isJsonObject(body) || REPEATED.includes(String(body.event))) return undefined;
  const data = ownValue(body, "data");
  if (!isJsonObject(data)) return undefined;
  // A subscription that is enabled again may end again, and nothing but this time tells the two apart.
  if (body.event === "subscription.not_renew") return data.cancelledAt ? undefined : randomUUID();
  const id = ownValue(data, "id");
  return Number.isSafeInteger(id) || typeof id === "string" ? `${body.event}.${id}` : undefined;
}

/**
 * Paystack: `x-paystack-signature`, HMAC-SHA512 over the body; the key is the API's secret key. An event has no id: type
 * and `data.id` name it, and the body's hash where the object has none (subscriptions, invoices) or comes again (reminders
 * of a dispute). `subscription.not_renew` without `cancelledAt` is an event at each delivery: a loss is worse. It tries again every three minutes four times, then each hour for 72 hours, where the response is not 200.
 * Source: Paystack, "Webhooks" (Verifying event origin; Go live checklist).
 */
export const paystack = hmacPreset({
  preset: "paystack",
  facts: {
    title: "Paystack",
    docs: "https://paystack.com/docs/payments/webhooks/",
    identity: { why: "`subscription.not_renew` without `cancelledAt` is an event at each delivery" },
    deadlineSeconds: 30,
    retryHours: 72,
  },
  scheme: {
    algorithm: "sha512",
    signature: { header: "x-paystack-signature", encoding: "hex" },
    signed: "{body}",
  },
  contract: {
    id: [idOf, "sha256"],
    isIdSigned: true,
    type: "body.event",
  },
});
