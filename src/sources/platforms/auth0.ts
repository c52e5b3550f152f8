import { tokenPreset } from "../presets/token-preset.ts";

/**
 * Auth0's custom log streams, in the content format "JSON Array"; other formats are refused. The text in
 * `Authorization` is the one that was given to Auth0 ("Authorization Token"). Source:
 * https://auth0.com/docs/customize/log-streams/custom-log-streams.
 */
export const auth0 = tokenPreset("auth0", {
  docs: "https://auth0.com/docs/customize/log-streams/custom-log-streams",
  header: "Authorization",
  id: "item.log_id",
  type: "item.data.type",
  eventTime: { at: "item.data.date", unit: "iso" },
  data: "item.data",
  batch: { at: "body" },
});
