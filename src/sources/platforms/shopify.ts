import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Shopify: the key is the client secret of the app. The Events API (developer preview) has the same headers without
 * `X-`. Each subscription's delivery has a `X-Shopify-Webhook-Id`. One `X-Shopify-Event-Id` reaches several of them, so
 * that it is a key within a topic only, beside the bytes. A retry has the first payload. Source: @shopify/shopify-api
 * `lib/webhooks/validate.ts`; Shopify, "Verify Events deliveries", "Ignore duplicate webhooks" and the changelog's
 * "Updates to webhook retry mechanism".
 * It has no `reconcile`: the Admin API lists subscriptions and resources, but neither webhook events nor deliveries. So
 * nothing has the id of a callback that never arrived. Shopify advises jobs that fetch the resources.
 */
export const shopify = hmacPreset("shopify", {
  docs: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
  proof: "verifies",
  identity: {
    why: "`X-Shopify-Webhook-Id` is the delivery's id, to detect duplicates by; `X-Shopify-Event-Id` has several of them",
    source: "https://shopify.dev/docs/apps/build/events/verify-deliveries",
  },
  deadlineSeconds: 5,
  retryHours: 4,
  // A product has up to 2,048 variants; no limit over HTTPS is documented.
  maxBodyBytes: 10_000_000,
  disables: "8 consecutive failures of a subscription that the Admin API made",
  unsigned: "topic, shop, ids and time",
  signature: { header: ["X-Shopify-Hmac-Sha256", "Shopify-Hmac-Sha256"], encoding: "base64" },
  id: [
    "header.X-Shopify-Webhook-Id",
    "header.Shopify-Webhook-Id",
    "{header.X-Shopify-Event-Id}:{header.X-Shopify-Topic}:{sha256}",
  ],
  type: ["header.X-Shopify-Topic", "header.Shopify-Topic"],
  eventTime: { at: "header.X-Shopify-Triggered-At", unit: "iso" },
  bytesScope: ["header.X-Shopify-Topic", "header.Shopify-Topic"],
  headers: [
    "X-Shopify-Topic",
    "X-Shopify-Shop-Domain",
    "X-Shopify-API-Version",
    "X-Shopify-Webhook-Id",
    "X-Shopify-Triggered-At",
  ],
});
