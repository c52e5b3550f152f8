import { type EventKey, isRefused, type JsonObject, type Refused, refused } from "../domain/index.ts";
import { idFault, parseEvent } from "../sources/index.ts";

/** A body that is an object with an id that both databases can keep as it is. */
export interface IdentifiedEvent {
  readonly key: EventKey;
  readonly json: JsonObject;
}

/** Step (c), first part: the verified bytes become an event id, or a 400. */
export function identify(body: Uint8Array, source: string): IdentifiedEvent | Refused {
  const json = parseEvent(body);
  if (isRefused(json)) return json;
  const { event_id: eventId } = json.object;
  const fault = idFault(eventId);
  if (fault !== undefined) return refused("event_id_invalid", { message: `event_id: ${fault}` });
  return { key: { source, eventId: eventId as string }, json: json.object };
}
