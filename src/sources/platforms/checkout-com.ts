import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Checkout.com: the key is the signature key of the workflow's webhook action. Source: Checkout.com, "Receive webhooks"
 * and "Set up your webhook receiver", which warn of a body that was parsed and written again.
 */
export const checkoutCom = hmacPreset("checkout-com", {
  title: "Checkout.com",
  docs: "https://www.checkout.com/docs/workflows",
  signature: { header: "Cko-Signature", encoding: "hex" },
  id: "body.id",
  type: "body.type",
  eventTime: { at: "body.created_on", unit: "iso" },
});
