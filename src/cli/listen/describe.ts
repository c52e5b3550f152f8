import { isJsonObject } from "../../domain/index.ts";
import { coloredStatus, eventColumns, timeOfDay } from "../callback-line.ts";
import { plainJson } from "../plain.ts";
import type { Delivered } from "./deliver.ts";
import type { ReadRequest } from "./read-line.ts";

interface Described {
  readonly eventType: string | null;
  readonly eventId: string | null;
}

/** What can be read of the event, be it genuine or not: the header's type, or the body's. */
export function describeRequest({ headers, body }: ReadRequest): Described {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "x-event-type");
  const event = parse(Buffer.from(body, "base64").toString());
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);
  const { event_type, event_id } = isJsonObject(event) ? event : {};
  return {
    eventType: text(headers[at + 1] && at !== -1 ? headers[at + 1] : event_type),
    eventId: text(event_id),
  };
}

/** One line for a person: when it came, what it is, and what the server at this machine answered. */
export function lineFor(request: ReadRequest, { status, durationMs }: Delivered): string {
  const { eventType, eventId } = describeRequest(request);
  const what = eventColumns(eventType, eventId).join("  ");
  return `${timeOfDay(request.received_at)}  ${what}  ${coloredStatus(status)}  ${Math.round(durationMs)} ms`;
}

/** The same for scripts. */
export function jsonFor(request: ReadRequest, { status, durationMs }: Delivered): string {
  const { eventType, eventId } = describeRequest(request);
  return plainJson({
    received_at: request.received_at,
    event_type: eventType,
    event_id: eventId,
    method: request.method,
    url: request.url,
    status,
    duration_ms: Math.round(durationMs * 10) / 10,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
