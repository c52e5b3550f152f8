import { graphPreset } from "./graph-webhooks.ts";

/**
 * WhatsApp Business Platform: messages, and statuses of those that were sent, as changes of the field `messages`. A
 * message's id is the event's; a status is its message's id and the status.
 * Source: Meta, "WhatsApp Cloud API, webhooks": retries for 7 days, bodies of up to 3 MB.
 */
export const whatsapp = graphPreset({
  preset: "whatsapp",
  facts: {
    title: "WhatsApp",
    docs: "https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks",
    proof: "signs",
    retryHours: 168,
    maxBodyBytes: 3_000_000,
  },
  contract: {
    id: [
      "item.value.messages[0].id",
      "{item.value.statuses[0].id}.{item.value.statuses[0].status}",
      "{parent.id}.{parent.time}.{sha256}",
      "{parent.id}.{sha256}",
    ],
    type: "item.field",
    eventTime: { at: "item.value.messages[0].timestamp", unit: "seconds" },
    batch: { at: "body.entry[].changes[]" },
  },
});
