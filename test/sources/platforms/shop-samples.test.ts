import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject, parsePath, valueAt } from "../../../src/domain/index.ts";
import { PRESETS, paypal } from "../../../src/sources/platforms/index.ts";

/** Adyen's keys are hexadecimal, and any other preset takes such a text too. */
const HEX = "00112233445566778899aabbccddeeff";
const NOW = new Date("2026-01-02T03:04:05Z");

type Preset = keyof typeof PRESETS | "paypal";

/** What handlers of these types usually read. */
const READ: readonly [Preset, string, string][] = [
  ["shopify", "orders/create", "total_price currency line_items[0].price customer.email created_at"],
  ["shopify", "orders/paid", "financial_status total_price customer.id line_items[0].variant_id"],
  ["shopify", "products/update", "title variants[0].price"],
  ["shopify", "customers/create", "email created_at"],
  ["shopify", "refunds/create", "order_id transactions[0].amount"],
  ["stripe", "invoice.paid", "data.object.id data.object.object"],
  ["paypal", "PAYMENT.CAPTURE.COMPLETED", "resource_type resource.id resource.amount.value resource.status"],
  ["paypal", "CHECKOUT.ORDER.APPROVED", "resource.id resource.payer.email_address"],
  ["square", "payment.updated", "data.id data.object.payment.amount_money.amount data.object.payment.status"],
  ["square", "refund.updated", "data.object.refund.payment_id"],
  ["adyen", "AUTHORISATION", "notificationItems[0].NotificationRequestItem.amount.value"],
  ["woocommerce", "order.created", "id total currency line_items[0].product_id billing.email"],
  ["github", "push", "ref commits[0].id repository.full_name sender.login"],
  ["github", "pull_request", "action pull_request.head.ref repository.full_name"],
  ["github", "release", "action repository.full_name"],
];

function sampleOf(preset: Preset, type: string): JsonObject {
  const source = preset === "paypal" ? paypal({ webhookId: HEX }) : PRESETS[preset]({ secret: HEX });
  const { body } = source.sample({ type, newId: "sample-1", now: NOW });
  const parsed: unknown = JSON.parse(Buffer.from(body).toString());
  if (!isJsonObject(parsed)) throw new Error(`${preset}: expected an object`);
  return parsed;
}

describe("the samples of shops and payments", () => {
  it.each(READ)("the sample of %s %s has what handlers of that type read", (preset, type, places) => {
    const body = sampleOf(preset, type);
    for (const place of places.split(" ")) expect(valueAt(body, parsePath(`.${place}`) ?? []), place).toBeDefined();
  });
});
