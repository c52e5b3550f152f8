import { standardPreset } from "../presets/standard.ts";

/**
 * Render: Standard Webhooks with a thin `{ type, timestamp, data }`. Source: https://render.com/docs/webhooks.
 */
export const render = standardPreset({
  preset: "render",
  facts: {
    title: "Render",
    docs: "https://render.com/docs/webhooks",
    deadlineSeconds: 15,
    retryHours: 33,
    disables: "all attempts of one notification fail",
  },
  contract: { type: "body.type", eventTime: { at: "body.timestamp", unit: "iso" }, hasSignedTime: true },
});
