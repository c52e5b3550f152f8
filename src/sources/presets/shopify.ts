import { hmacPreset } from "./preset.ts";

/**
 * Shopify: `X-Shopify-Hmac-Sha256`, HMAC-SHA256 in base64 over the body; the key is the client secret of the app. The
 * Events API (developer preview) has the same headers without `X-`. Topic and ids are not signed. One event reaches
 * each topic under one `X-Shopify-Event-Id`, often with the same bytes, so that id and bytes are keys within a topic.
 * Source: @shopify/shopify-api `lib/webhooks/validate.ts`; Shopify, "Verify webhook deliveries", "Ignore duplicate
 * webhooks" and the changelog's "Updates to webhook retry mechanism": a retry has the first payload.
 * It has no `reconcile`: the Admin API lists subscriptions and resources, but neither webhook events nor deliveries, so
 * that nothing has the id of a callback that never arrived. Shopify advises jobs that fetch the resources.
 */
export const shopify = hmacPreset({
  preset: "shopify",
  facts: {
    title: "Shopify",
    docs: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
    proof: "verifies",
    identity: {
      why: "`X-Shopify-Webhook-Id` is the idempotency key; one `X-Shopify-Event-Id` may reach a topic several times",
      source: "https://shopify.dev/docs/apps/build/webhooks/ignore-duplicates",
    },
    deadlineSeconds: 5,
    retryHours: 4,
    disables: "8 consecutive failures of a subscription that the Admin API made",
    unsigned: "topic, ids and time: one body runs once for each topic",
  },
  scheme: {
    signature: { header: ["X-Shopify-Hmac-Sha256", "Shopify-Hmac-Sha256"], encoding: "base64" },
    signed: "{body}",
  },
  contract: {
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
  },
});
