import { propertyName } from "../contract/reading.ts";
import { tokenPreset } from "../presets/token-preset.ts";

/**
 * Telegram's bots, with the text that `setWebhook` was given as `secret_token`. Without one nothing authenticates an
 * update, and all are refused. `update_id` is unique for a bot: give each bot a source of its own. Source: Telegram Bot
 * API, "setWebhook", "Update" and "Making requests when getting updates".
 */
export const telegram = tokenPreset("telegram", {
  docs: "https://core.telegram.org/bots/api#setwebhook",
  header: "X-Telegram-Bot-Api-Secret-Token",
  id: "body.update_id",
  // `message`: an update holds one property beside its id.
  type: propertyName((name) => name !== "update_id"),
  // A body would be taken for a call of the Bot API.
  responses: { received: { status: 200 } },
  sample: (type, id, now) => ({
    body: { update_id: id, [type]: { message_id: 1, date: Math.floor(now.getTime() / 1_000) } },
  }),
});
