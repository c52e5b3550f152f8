import { standardPreset } from "../presets/standard.ts";

/** Loops. Source: https://loops.so/docs/webhooks. */
export const loops = standardPreset("loops", {
  docs: "https://loops.so/docs/webhooks",
  type: "body.eventName",
  eventTime: { at: "body.eventTime", unit: "seconds" },
  hasSignedTime: true,
});
