import { type EventKey, isRefused, type JsonObject, PLATFORM, type Refused, refused } from "../../domain/index.ts";
import { parseEvent, sha256Hex } from "../formats/parse-body.ts";
import type { SignedRequest } from "../request.ts";
import type { Contract, ReadCallback } from "./contract.ts";
import { idFault } from "./event-id.ts";

/** The places of an event's type in the built-in protocol (SPEC 4.1 rule 1). */
export interface PlatformRules {
  readonly eventTypeFrom: "header" | "body" | "either";
  readonly rejectTypeMismatch: boolean;
  /** Called where header and body disagree and the header, which is not signed, decides. */
  readonly typeMismatch: (key: EventKey, header: string, body: string) => void;
}

/** The contract of the specification's own platform: SPEC 2.1, 4.1 and 6. Its responses are the common ones. */
export function createPlatformContract(rules: PlatformRules): Contract {
  return {
    methods: ["POST"],
    unhandled: "refuse",
    invalid: "refuse",
    headers: [HEADER],
    identity: "signed-id",
    hasSignedTime: true,
    read: (request) => readEvent(request, rules),
    identify: ({ body }) => sha256Hex(body),
  };
}

function readEvent(request: SignedRequest, rules: PlatformRules): ReadCallback | Refused {
  const { body } = request;
  const parsed = parseEvent(body);
  if (isRefused(parsed)) return parsed;
  const json = parsed.object;
  const fault = idFault(json.event_id);
  if (fault !== undefined) return refused("event_id_invalid", { message: `event_id: ${fault}` });
  const eventId = json.event_id as string;
  const typeOf = () => chooseType(request, json, { source: PLATFORM, eventId }, rules);
  return { kind: "event", event: { eventId, typeOf, json, body, bodySha256: sha256Hex(body), isJson: true } };
}

const HEADER = "x-event-type";

/**
 * The type is the header's in the full flow and the body's in the simplified one. The header is not signed, so a
 * disagreement is reported, and refused where the configuration says so.
 */
function chooseType(
  request: SignedRequest,
  json: JsonObject,
  key: EventKey,
  { eventTypeFrom, rejectTypeMismatch, typeMismatch }: PlatformRules,
): string | Refused {
  const headers = request.headers[HEADER] ?? [];
  // An empty header names no type, as an absent one does.
  const header = headers[0] === "" ? undefined : headers[0];
  const body = json.event_type;
  if (headers.length > 1) return refused("event_type_mismatch", { message: "X-Event-Type stands more than once" });
  if (eventTypeFrom === "body" || (eventTypeFrom === "either" && header === undefined)) {
    return typeof body === "string" && body !== "" ? body : missing("event_type in the body");
  }
  if (header === undefined) return missing("the X-Event-Type header");
  if (typeof body === "string" && body !== header) {
    if (rejectTypeMismatch) return refused("event_type_mismatch");
    typeMismatch(key, header, body);
  }
  return header;
}

function missing(where: string): Refused {
  return refused("event_type_missing", { message: `the event type is missing: expected ${where}` });
}
