import { isJsonObject, type JsonValue, ownValue } from "../../../domain/index.ts";
import type { Readable } from "../../contract/reading.ts";
import { graphPreset } from "./graph-webhooks.ts";

const STATUS = "{item.value.statuses[0].id}.{item.value.statuses[0].status}.{item.value.statuses[0].timestamp}";
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

/** Errors of the account have neither id nor time. A second run at a retry is better than the loss of the next ones. */
function errorsId(from: Readable): string | undefined {
  const value = isJsonObject(from.item) ? ownValue(from.item, "value") : undefined;
  return isJsonObject(value) && Array.isArray(value.errors) ? from.delivery() : undefined;
}

/**
 * WhatsApp Business Platform: messages, and statuses of those that were sent, as changes of the field `messages`. Each
 * message and each status is an event, since a retry may hold others beside it. A message's id is the event's. A
 * status's id has its message's id, the status, its time and, in a group, its participant.
 * Source: Meta, "WhatsApp Cloud API, webhooks": retries for 7 days, bodies of up to 3 MB; "Group messaging" (statuses).
 */
export const whatsapp = graphPreset("whatsapp", {
  title: "WhatsApp",
  docs: "https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks",
  proof: "signs",
  identity: { why: "`errors` of an account have neither id nor time, and are an event at each delivery" },
  retryHours: 168,
  maxBodyBytes: 3_000_000,
  id: [
    "item.value.messages[0].id",
    `${STATUS}.{item.value.statuses[0].recipient_participant_id}`,
    `${STATUS}.{item.value.statuses[0].recipient_participant_user_id}`,
    STATUS,
    "item.value.message_echoes[0].id",
    "{item.value.calls[0].id}.{item.value.calls[0].event}",
    "{parent.id}.{parent.time}.{sha256}",
    errorsId,
    "{parent.id}.{sha256}",
  ],
  isIdSigned: true,
  type: "item.field",
  eventTime: { at: "item.value.messages[0].timestamp", unit: "seconds" },
  batch: { at: "body.entry[].changes[]", split },
});
