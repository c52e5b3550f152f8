import { type Refused, refused } from "../domain/index.ts";
import type { Callback, Receiver } from "./callback.ts";
import type { Identified } from "./identify.ts";

const HEADER = "x-event-type";

/**
 * Phase (d), SPEC 4.1 rule 1: the type is the header's in the full flow and the body's in the simplified one.
 * The header is not signed, so a disagreement is reported, and refused where the configuration says so.
 */
export function chooseType(
  callback: Callback,
  { json, key }: Identified,
  receiver: Receiver,
): string | Refused {
  const { eventTypeFrom, rejectTypeMismatch } = receiver.rules;
  const headers = callback.headers[HEADER] ?? [];
  // An empty header names no type, as an absent one does.
  const header = headers[0] === "" ? undefined : headers[0];
  const body = json.event_type;
  if (headers.length > 1)
    return refused("event_type_mismatch", { message: "X-Event-Type stands more than once" });
  if (eventTypeFrom === "body" || (eventTypeFrom === "either" && header === undefined)) {
    return typeof body === "string" && body !== "" ? body : missing("event_type in the body");
  }
  if (header === undefined) return missing("the X-Event-Type header");
  if (typeof body === "string" && body !== header) {
    if (rejectTypeMismatch) return refused("event_type_mismatch");
    receiver.observer.typeMismatch(key, header, body);
  }
  return header;
}

function missing(where: string): Refused {
  return refused("event_type_missing", { message: `the event type is missing: expected ${where}` });
}
