import { isJsonObject } from "../../domain/index.ts";
import type { Readable } from "../contract/reading.ts";
import { graphPreset } from "./graph-webhooks.ts";

/** What every entry of `messaging` has; the other one names what happened. */
const COMMON = ["sender", "recipient", "timestamp"];

/** `page.message`, `instagram.reaction`: a messaging event is named by its own property. */
function messagingType({ body, item }: Readable): string | undefined {
  if (!isJsonObject(body) || !isJsonObject(item)) return undefined;
  const name = Object.keys(item).find((key) => !COMMON.includes(key));
  return name === undefined ? undefined : `${String(body.object)}.${name}`;
}

/**
 * Meta (Facebook pages, Instagram, Messenger): changes and messages of several pages in one callback. A change has no
 * id: its entry's id and time, and the hash of its text, name it. WhatsApp has a preset of its own.
 * Source: Meta, "Webhooks, getting started" and "Messenger Platform, webhooks".
 */
export const meta = graphPreset({
  preset: "meta",
  facts: {
    title: "Meta",
    docs: "https://developers.facebook.com/docs/graph-api/webhooks/getting-started",
    proof: "signs",
    retryHours: 36,
  },
  contract: {
    id: ["item.message.mid", "{parent.id}.{parent.time}.{sha256}"],
    type: ["{body.object}.{item.field}", messagingType],
    eventTime: { at: "parent.time", unit: "seconds" },
    batch: { at: ["body.entry[].changes[]", "body.entry[].messaging[]", "body.entry[].standby[]"] },
  },
});
