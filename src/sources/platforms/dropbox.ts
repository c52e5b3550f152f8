import { echoOf } from "../contract/handshakes.ts";
import { propertyName } from "../contract/reading.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Dropbox: the key is the app secret. A callback says only which accounts have changes. So the same bytes come for each
 * change, and each one is an event. A new address is asked by GET for `challenge`. Source: Dropbox, "Webhooks"
 * (developer reference).
 */
export const dropbox = hmacPreset("dropbox", {
  docs: "https://www.dropbox.com/developers/reference/webhooks",
  identity: { key: "delivery", why: "no id and no time: the same hint is sent at each change" },
  deadlineSeconds: 10,
  // For about ten minutes.
  retryHours: 0.2,
  signature: { header: "X-Dropbox-Signature", encoding: "hex" },
  id: "sha256",
  // `list_folder`: what the notified accounts should be asked for.
  type: propertyName((name) => name !== "delta"),
  handshakes: [echoOf("query.challenge", "GET")],
});
