import { standardPreset } from "./standard.ts";

/**
 * Render: Standard Webhooks with a thin `{ type, timestamp, data }`. Source: https://render.com/docs/webhooks.
 */
export const render = standardPreset({
  preset: "render",
  facts: {
    title: "Render",
    docs: "https://render.com/docs/webhooks",
    proof: "documented",
  },
  headers: "webhook",
  contract: { type: "body.type", timestamp: { at: "body.timestamp", unit: "iso" } },
});
