import { standardPreset } from "../presets/standard.ts";

/** ShipBob: the topic stands only in an unsigned header. Source: https://developer.shipbob.com/webhooks. */
export const shipbob = standardPreset("shipbob", {
  title: "ShipBob",
  docs: "https://developer.shipbob.com/webhooks",
  type: "header.x-webhook-topic",
  headers: ["x-webhook-topic"],
});
