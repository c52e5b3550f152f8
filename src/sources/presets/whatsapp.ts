import { isJsonObject, type JsonValue } from "../../domain/index.ts";
import { graphPreset } from "./graph-webhooks.ts";

const LISTS = ["messages", "statuses", "message_echoes", "calls"];

/** Each message or status as a change that holds no other one. */
function split(change: JsonValue): readonly JsonValue[] {
  if (!isJsonObject(change) || !isJsonObject(change.value)) return [change];
  const fields = Object.entries(change.value);
  const common = Object.fromEntries(fields.filter(([name]) => !LISTS.includes(name)));
  const single = fields.flatMap(([name, list]) =>
    LISTS.includes(name) && Array.isArray(list)
      ? list.map((one) => ({ ...change, value: { ...common, [name]: [one] } }))
      : [],
  );
  return single.length === 0 ? [change] : single;
}

/**
 * WhatsApp Business Platform: messages, and statuses of those that were sent, as changes of the field `messages`. Each
 * message and each status is an event, since a retry may hold others beside it. A message's id is the event's; a status
 * is its message's id, the status and its time.
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
      "{item.value.statuses[0].id}.{item.value.statuses[0].status}.{item.value.statuses[0].timestamp}",
      "item.value.message_echoes[0].id",
      "{item.value.calls[0].id}.{item.value.calls[0].event}",
      "{parent.id}.{parent.time}.{sha256}",
      "{parent.id}.{sha256}",
    ],
    type: "item.field",
    eventTime: { at: "item.value.messages[0].timestamp", unit: "seconds" },
    batch: { at: "body.entry[].changes[]", split },
  },
});
