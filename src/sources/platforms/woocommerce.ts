import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * WooCommerce: a webhook that is saved sends a ping, a form that is not signed, and wants 200. Source: woocommerce
 * `includes/class-wc-webhook.php` (`deliver`, `get_new_delivery_id`, `deliver_ping`, `failed_delivery`), where a filter
 * can choose another algorithm.
 */
export const woocommerce = hmacPreset("woocommerce", {
  title: "WooCommerce",
  docs: "https://developer.woocommerce.com/docs/webhooks/",
  identity: {
    key: "delivery",
    why: "a failed delivery is not sent again; a trashed product has equal bytes each time, and two deliveries within a second share their id",
    source: "https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php",
  },
  deadlineSeconds: 60,
  retryHours: 0,
  disables: "more than 5 failures in a row; 2xx, 301 and 302 are success",
  signature: { header: "X-WC-Webhook-Signature", encoding: "base64" },
  id: "sha256",
  type: "header.X-WC-Webhook-Topic",
  headers: ["X-WC-Webhook-Source", "X-WC-Webhook-ID", "X-WC-Webhook-Delivery-ID"],
  handshakes: [
    {
      isSigned: false,
      when: { "body.webhook_id": true },
      without: "X-WC-Webhook-Signature",
      body: "form",
      reply: { kind: "status", status: 200 },
    },
  ],
});
