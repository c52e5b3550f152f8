import { isJsonObject, type JsonObject, type JsonValue, ownValue } from "../../../domain/index.ts";
import type { Readable } from "../../contract/reading.ts";
import { graphPreset } from "./graph-webhooks.ts";

export type { MetaOptions } from "./graph-webhooks.ts";

/** The fields of every entry of `messaging`; the other one names what happened. */
const COMMON = ["sender", "recipient", "timestamp"];

/** `message`, `reaction`: a messaging event is named by its own property. One that is unsent or echoed keeps its `mid`. */
function nameOf(item: JsonObject): string | undefined {
  const name = Object.keys(item).find((key) => !COMMON.includes(key));
  const message = ownValue(item, "message");
  if (name !== "message" || !isJsonObject(message)) return name;
  if (message.is_deleted === true) return "message_deleted";
  return message.is_echo === true ? "message_echo" : name;
}

/** Such as `page.message`. */
function messagingType({ body, item }: Readable): string | undefined {
  const name = isJsonObject(item) ? nameOf(item) : undefined;
  return name === undefined || !isJsonObject(body) ? undefined : `${String(body.object)}.${name}`;
}

function messageId({ item }: Readable): string | undefined {
  const message = isJsonObject(item) ? ownValue(item, "message") : undefined;
  if (!isJsonObject(item) || !isJsonObject(message) || typeof message.mid !== "string") return undefined;
  const name = nameOf(item);
  return name === "message" ? message.mid : `${message.mid}.${name}`;
}

/** A field of `changed_fields`, which is sent in the place of `changes` without values, has its entry beside it. */
function split(element: JsonValue, entry: JsonValue | undefined): readonly JsonValue[] {
  if (typeof element !== "string" || !isJsonObject(entry)) return [element];
  const { changed_fields: fields, ...rest } = entry;
  if (fields === undefined) return [element];
  return [{ ...rest, field: element }];
}

/**
 * Meta (Facebook pages, Instagram, Messenger): changes and messages of several pages in one callback. A message has its
 * id; one that is unsent or echoed is another event with the same `mid`. A change has no id: its entry's id and time, and
 * the hash of its text, name it. WhatsApp has a preset of its own.
 * Source: Meta, "Webhooks, getting started" and "Messenger Platform, webhooks".
 */
export const meta = graphPreset("meta", {
  docs: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
  proof: "signs",
  retryHours: 36,
  id: [messageId, "{parent.id}.{item.timestamp}.{sha256}", "{parent.id}.{parent.time}.{sha256}"],
  isIdSigned: true,
  type: ["{body.object}.{item.field}", messagingType],
  eventTime: { at: "parent.time", unit: "seconds" },
  batch: {
    at: ["changes", "changed_fields", "messaging", "standby"].map((list) => `body.entry[].${list}[]`),
    split,
  },
});
