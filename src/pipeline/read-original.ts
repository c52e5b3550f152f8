import {
  type EventKey,
  getOrMake,
  isJsonObject,
  isRefused,
  type JsonObject,
  type Refused,
  refused,
  sourceOf,
} from "../domain/index.ts";
import {
  type DistinctHeaders,
  type EventContent,
  parseEvent,
  type SignedRequest,
  sha256Hex,
} from "../sources/index.ts";
import type { Original } from "../store/index.ts";
import type { Receiver, Source } from "./receiver.ts";

/** An event of an original, under the key of its record. */
export interface OriginalEvent {
  readonly key: EventKey;
  readonly content: EventContent;
}

export interface ReadOriginal {
  readonly source: Source;
  /** The request as it came, without its proofs: they were verified then, and may be stale now. */
  readonly request: SignedRequest;
  /** One event, unless the original is a whole callback that could not be read when it came. */
  readonly events: readonly OriginalEvent[];
}

/**
 * Reads an original by the contract of today. Its signature was verified when it came. An event keeps the key that it came
 * under, also where the contract would make another one now. Its record has that key, and so has what it wrote.
 */
export function readOriginal(
  original: Original,
  { sourcesByName }: Pick<Receiver, "sourcesByName">,
): ReadOriginal | Refused {
  const source = sourcesByName.get(sourceOf(original));
  if (source === undefined)
    return refused("event_invalid", { message: `the source ${sourceOf(original)} is not configured any more` });
  const { method, target, eventId, eventType, body } = original;
  const request: SignedRequest = {
    ...{ method, target, body },
    headers: headersOf(original.rawHeaders),
    // A key that is of one delivery only is the same again.
    deliveryId: eventId,
    receivedAt: new Date(original.receivedAt),
  };
  const read = source.contract.read(request);
  const events = isRefused(read) || read.kind === "handshake" ? [] : read.kind === "event" ? [read.event] : read.events;
  const under = (content: EventContent) => ({ key: { source: original.source, eventId: content.eventId }, content });
  if (eventType === "" && events.length > 0) return { source, request, events: events.map(under) };
  const content =
    !isRefused(read) && read.kind === "event"
      ? read.event
      : (events.find((one) => one.eventId === eventId) ?? envelopeOf(original));
  if (content !== undefined) return { source, request, events: [under(withId(content, eventId))] };
  return isRefused(read)
    ? read
    : refused("event_invalid", { message: "today's contract finds no event in its original" });
}

/** The id is the key's: a handler that writes it finds what it wrote before. */
function withId(content: EventContent, eventId: string): EventContent {
  if (content.eventId === eventId) return content;
  const json: JsonObject = { ...content.json, event_id: eventId };
  const body = Buffer.from(JSON.stringify(json));
  return { eventId, json, body, typeOf: content.typeOf, bodySha256: content.bodySha256 };
}

/** An event of a batch was kept as the envelope of SPEC 2.1, which its contract made when it came. */
function envelopeOf({ eventId, body }: Original): EventContent | undefined {
  const parsed = parseEvent(body);
  if (isRefused(parsed)) return undefined;
  const { object: json } = parsed;
  const { event_id, event_type, data } = json;
  if (event_id !== eventId || typeof event_type !== "string" || !isJsonObject(data)) return undefined;
  return { eventId, json, body, typeOf: () => event_type, bodySha256: sha256Hex(body) };
}

/** @param rawHeaders names and values in turn */
function headersOf(rawHeaders: readonly string[]): DistinctHeaders {
  const headers = new Map<string, string[]>();
  for (const [index, value] of rawHeaders.entries())
    if (index % 2 === 1)
      getOrMake(headers, String(rawHeaders[index - 1]).toLowerCase(), () => [] as string[]).push(value);
  return Object.fromEntries(headers);
}
