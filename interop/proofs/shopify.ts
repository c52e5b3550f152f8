import "@shopify/shopify-api/adapters/web-api";
import { ApiVersion, shopifyApi } from "@shopify/shopify-api";
import { shopify } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const shopifyProof: PlatformProof = {
  preset: "shopify",
  by: "@shopify/shopify-api, webhooks.validate",
  secrets: ["shpss_first_of_the_secrets", "shpss_second_of_the_secrets", "shpss_third_of_the_secrets"],
  source: (secrets) => shopify({ secret: secrets }),
  callback: (event) =>
    signedByPreset(shopify({ secret: event.secret }), event, {
      headers: {
        "x-shopify-topic": "orders/create",
        "x-shopify-shop-domain": "example.myshopify.com",
        "x-shopify-api-version": "2026-07",
        "x-shopify-webhook-id": `b54557e4-${event.id}`,
        "x-shopify-event-id": event.id,
        "x-shopify-triggered-at": event.now.toISOString(),
      },
      body: '{"id":820982911946154508,"email":"jon@example.com","note":"grüße"}',
    }),
  async accepts({ headers, body }, { secret, url }) {
    const sdk = shopifyApi({
      apiKey: "unused",
      apiSecretKey: secret,
      apiVersion: ApiVersion.July26,
      hostName: "callbacks.example",
      isEmbeddedApp: true,
      logger: { log: () => undefined },
    });
    const rawRequest = new Request(url, { method: "POST", headers: { ...headers } });
    const { valid } = await sdk.webhooks.validate({ rawBody: Buffer.from(body).toString(), rawRequest });
    return valid;
  },
  toleranceSeconds: null,
};
