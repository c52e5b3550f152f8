import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Coinbase Commerce: the event stands in `event`; the body's own `id` is another. Source: coinbase-commerce-node
 * `lib/Webhook.js`; https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-security.
 */
export const coinbaseCommerce = hmacPreset("coinbase-commerce", {
  docs: "https://docs.cdp.coinbase.com/commerce/api-arcitecture/webhooks-security",
  proof: "signs",
  signature: { header: "X-CC-Webhook-Signature", encoding: "hex" },
  id: "body.event.id",
  type: "body.event.type",
  eventTime: { at: "body.event.created_at", unit: "iso" },
  data: "body.event",
});
