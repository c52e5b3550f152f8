import { standardPreset } from "../presets/standard.ts";

/**
 * Loops: Standard Webhooks. Source: https://loops.so/docs/webhooks.
 */
export const loops = standardPreset({
  preset: "loops",
  facts: {
    title: "Loops",
    docs: "https://loops.so/docs/webhooks",
  },
  contract: {
    type: "body.eventName",
    eventTime: { at: "body.eventTime", unit: "seconds" },
    hasSignedTime: true,
  },
});
