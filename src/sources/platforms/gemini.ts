import { standardPreset } from "../presets/standard.ts";

/**
 * The Gemini API's static webhooks. A dynamic one, of a single job, is signed by Google's key and is refused. Source:
 * Google, "Webhooks" of the Gemini API.
 */
export const gemini = standardPreset("gemini", {
  title: "Google Gemini",
  docs: "https://ai.google.dev/gemini-api/docs/webhooks",
  retryHours: 24,
  type: "body.type",
  eventTime: { at: "body.timestamp", unit: "iso" },
});
