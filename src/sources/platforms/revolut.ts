import { onceOf } from "../contract/locate.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

/** Of the Merchant API: an order that has reached one of them does so once. A payment may be declined several times. */
const ONCE = ["ORDER_AUTHORISED", "ORDER_COMPLETED", "ORDER_CANCELLED"];

/**
 * Revolut (Merchant and Business). Several `v1` may stand in the header, with commas, while the secret (`wsk_…`) is
 * rotated. It tries again three times, ten minutes apart, and the signed time is of the sending. Business has the
 * event's time in the body, whose hash is the key. Merchant has none: event and order are the key where they occur
 * once, and otherwise what was signed. So a retry runs again, and no second payment that is declined is lost. Revolut
 * advises to refuse times that are five minutes off; no age is checked. Source: Revolut, "Verify the payload signature"
 * and "Use webhooks" (Merchant API); "Order and payment lifecycle".
 */
export const revolut = hmacPreset("revolut", {
  docs: "https://developer.revolut.com/docs/guides/merchant/monitor-and-observe/webhooks/using-webhooks",
  identity: { why: "event and order, where they occur once; else the bytes, with their signed time" },
  retryHours: 0.5,
  signature: { header: "Revolut-Signature", encoding: "hex", fields: { separator: ",", assignment: "=", value: "v1" } },
  signed: "v1.{timestamp}.{body}",
  timestamp: { header: "Revolut-Request-Timestamp", unit: "milliseconds", toleranceSeconds: null },
  id: [onceOf("body.order_id", ONCE), "sha256"],
  isIdSigned: true,
  type: "body.event",
  eventTime: { at: "body.timestamp", unit: "iso" },
});
