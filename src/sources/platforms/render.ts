import { standardPreset } from "../presets/standard.ts";

/** Render, with a thin `{ type, timestamp, data }`. Source: https://render.com/docs/webhooks. */
export const render = standardPreset("render", {
  docs: "https://render.com/docs/webhooks",
  deadlineSeconds: 15,
  retryHours: 33,
  disables: "all attempts of one notification fail",
  type: "body.type",
  eventTime: { at: "body.timestamp", unit: "iso" },
  hasSignedTime: true,
});
