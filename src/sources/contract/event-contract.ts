import {
  type Clock,
  isJsonObject,
  isRefused,
  type JsonObject,
  type JsonValue,
  type Refused,
  refused,
} from "../../domain/index.ts";
import { type BodyData, createBodyDecoder } from "../formats/body-formats.ts";
import { sha256Hex } from "../formats/parse-body.ts";
import { naming } from "../option-error.ts";
import type { SignedRequest, SignedText } from "../request.ts";
import { type BatchData, type BatchItems, compileBatch } from "./batch.ts";
import type { Contract, EventContent, ReadCallback } from "./contract.ts";
import { compileEventTime, type EventTimeData } from "./event-time.ts";
import type { HandshakeEnvironment } from "./handshake-replies.ts";
import { compileHandshake, type Handshake, matchHandshake } from "./handshakes.ts";
import { compileBytes, compileKey, type EventIdentity, type IdentityData, identityOf } from "./identity.ts";
import { compileLocation, compileText, readKept, type TextLocation, type TextPlace } from "./locate.ts";
import { CallbackReading, type Readable } from "./reading.ts";
import { createResponder, fixedResponse, type Responses } from "./responses.ts";

/** The meaning of a platform's callbacks, as data. Places are those of `Location` and `TextPlace` (locate.ts). */
export interface ContractData extends BodyData, IdentityData {
  readonly type: TextPlace | readonly TextPlace[];
  /** The place of the event's time. The envelope has the time of receipt where that place holds none. */
  readonly eventTime?: EventTimeData;
  /** Each event has its time in the signed bytes: `RECORD_RETENTION_DAYS` may delete its record. Default false. */
  readonly hasSignedTime?: boolean;
  /** The payload, first that is there; default the whole body, or the item of a batch. */
  readonly data?: string | readonly string[];
  /** Headers that handlers see as `event.headers`, by their names in lower case. */
  readonly headers?: readonly string[];
  /** The signed places beside the body: `header.x-id`, `query.id`, or `query` for all of it. */
  readonly signs?: readonly string[];
  /** Default ignore. */
  readonly unhandled?: "refuse" | "ignore" | undefined;
  /** Default accept. */
  readonly invalid?: "accept" | "refuse" | undefined;
  /** Those by which events come beside POST. */
  readonly methods?: readonly "GET"[];
  /** A callback of several events. It is kept where one of them is invalid; the others run. */
  readonly batch?: BatchData;
  readonly handshakes?: readonly Handshake[];
  readonly responses?: Responses;
}

export interface ContractEnvironment extends HandshakeEnvironment {
  readonly clock: Clock;
}

/** @throws TypeError for an invalid place, when the source is created */
export function createEventContract(data: ContractData, environment: ContractEnvironment): Contract {
  const { responses, unhandled = "ignore", handshakes = [], batch } = data;
  const decode = createBodyDecoder(data);
  const id = idOf(data);
  const identity = identityOf(data, data.isIdSigned ?? id.isSigned);
  const readKey = compileKey(identity, id);
  const readEvent = compileEvent(data, identity, readKey, environment.clock);
  const rules = { decode, origin: environment.origin, hashBytes: compileBytes(data) };
  const readItems = batch && naming({ option: "batch.at" }, () => compileBatch(batch));
  const compiled = handshakes.map((handshake, index) =>
    naming({ option: `handshakes[${index}]` }, () => compileHandshake(handshake, data, environment)),
  );
  const signed = compiled.filter(({ isSigned }) => isSigned);
  const unsigned = compiled.filter(({ isSigned }) => !isSigned);
  const headers = headersRead(data);
  const respond = responses === undefined ? undefined : createResponder(responses);

  function read(request: SignedRequest, signedText?: SignedText): ReadCallback | Refused {
    const reading = new CallbackReading(request, rules, signedText);
    const answer = matchHandshake(signed, request, reading);
    if (answer !== undefined) return { kind: "handshake", respond: answer };
    if (isRefused(reading.decoded)) return reading.decoded;
    if (readItems === undefined) {
      const event = readEvent(reading, "");
      return isRefused(event) ? event : { kind: "event", event };
    }
    const batchItems = readItems(reading);
    if (isRefused(batchItems)) return batchItems;
    if (batchItems.items.length === 0 && batchItems.invalid === undefined)
      return { kind: "handshake", respond: respondToEmptyBatch };
    return distinctEvents(batchItems, readEvent);
  }

  function identify(request: SignedRequest, signedText?: SignedText): string {
    const signed = new CallbackReading(request, rules, signedText);
    const key = readKey(signed, "");
    // A retry has the same id, and perhaps another signed time.
    const parts = isRefused(key)
      ? [signed.sha256(), request.target, headers.map((name) => request.headers[name])]
      : [new CallbackReading(request, rules).sha256(), key];
    return sha256Hex(Buffer.from(JSON.stringify(parts)));
  }

  function respondToEmptyBatch() {
    const ownResponse = respond?.({ kind: "success", result: {} });
    return ownResponse ?? fixedResponse({ body: { status: "success" } });
  }

  return {
    methods: [...new Set(["POST", ...(data.methods ?? []), ...compiled.map(({ method }) => method)])],
    unhandled,
    invalid: data.invalid ?? "accept",
    headers,
    identity,
    keysChangeWithDelivery: identity === "delivery" || (identity === "id" && [data.id].flat().includes("delivery")),
    hasSignedTime: data.hasSignedTime ?? false,
    read,
    identify,
    ...(data.gzip === true && { takesGzip: true }),
    ...(unsigned.length > 0 && { challenge: (request) => matchHandshake(unsigned, request)?.() }),
    ...(respond !== undefined && { respond }),
  };
}

/** Those of its places, and those that say how to decode a body. */
function headersRead(data: ContractData): string[] {
  const places = [...JSON.stringify(data).matchAll(/header\.([\w-]+)/g)].map(([, name = ""]) => name);
  const named = [...(data.headers ?? []), ...places].map((name) => name.toLowerCase());
  return [...new Set([...named, "content-type", "content-encoding"])];
}

/** The place of the id, and whether it is signed. @throws TypeError for an invalid place */
export function idOf({ id, signs = [] }: Pick<ContractData, "id" | "signs">): TextLocation {
  return naming({ option: "id" }, () => compileText(id, (place) => signs.includes(place)));
}

/** @param at what stands before the names of an item's places in a message */
type ReadEvent = (reading: Readable, at: string) => Envelope | Refused;

function compileEvent(
  data: ContractData,
  identity: EventIdentity,
  readKey: ReturnType<typeof compileKey>,
  clock: Clock,
): ReadEvent {
  const type = naming({ option: "type" }, () => compileText(data.type));
  const eventTime = naming({ option: "eventTime.at" }, () => compileEventTime(data.eventTime, clock));
  const fallback = data.batch === undefined ? "body" : "item";
  const payloads = naming({ option: "data" }, () => [data.data ?? fallback].flat().map((at) => compileLocation(at)));
  // Handlers find the platform's id there where it is not the key.
  const idHeaders = identity === "bytes" || identity === "delivery" ? headersIn(data.id) : [];
  const headers = [...new Set([...(data.headers ?? []), ...idHeaders].map((name) => name.toLowerCase()))];
  return (reading, at) => {
    const eventId = readKey(reading, at);
    if (typeof eventId !== "string") return eventId;
    const eventType = readKept(type, reading);
    if ("fault" in eventType)
      return refused("event_type_missing", { message: `${at}${type.name}: ${eventType.fault}` });
    const values = payloads.map((location) => location.read(reading));
    const payload = values.find((value) => value !== undefined && value !== null);
    if (payload === undefined) {
      const names = payloads.map(({ name }) => name).join(" or ");
      return refused("event_invalid", { message: `${at}${names}: missing` });
    }
    const shown = selectHeaders(headers, reading);
    const json: JsonObject = {
      event_id: eventId,
      event_type: eventType.text,
      timestamp: eventTime(reading),
      data: objectOf(payload),
      ...(shown !== undefined && { headers: shown }),
    };
    return new Envelope(json, identity === "bytes" ? eventId : reading.bodySha256(), reading.isJson);
  };
}

function headersIn(places: ContractData["id"]): string[] {
  return [places].flat().flatMap((place) => {
    if (typeof place !== "string") return [];
    const inner = place.includes("{") ? place.split(/[{}]/) : [place];
    return inner.filter((one) => one.startsWith("header.")).map((one) => one.slice("header.".length));
  });
}

/** `data` is an object for every handler: `{ items }` of an array, `{ value }` of anything else. */
function objectOf(payload: JsonValue): JsonObject {
  if (isJsonObject(payload)) return payload;
  return Array.isArray(payload) ? { items: payload } : { value: payload };
}

function selectHeaders(names: readonly string[], reading: Readable): JsonObject | undefined {
  if (names.length === 0) return undefined;
  const shown: JsonObject = {};
  for (const name of names) {
    const value = reading.header(name);
    if (value !== undefined) shown[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return shown;
}

class Envelope implements EventContent {
  readonly json: JsonObject;
  readonly bodySha256: string;
  readonly isJson: boolean;
  #body: Uint8Array | undefined;

  constructor(json: JsonObject, bodySha256: string, isJson = false) {
    this.json = json;
    this.bodySha256 = bodySha256;
    this.isJson = isJson;
  }

  get eventId(): string {
    return this.json.event_id as string;
  }

  readonly typeOf = (): string => this.json.event_type as string;

  get body(): Uint8Array {
    this.#body ??= Buffer.from(JSON.stringify(this.json));
    return this.#body;
  }
}

/**
 * Each event of a batch once: an id that stands twice is one event, as it is in two callbacks. An event's id must not
 * depend on the rest of its batch. Otherwise any sender could repeat a signed item with an unsigned field changed.
 */
function distinctEvents({ items, invalid }: BatchItems, readEvent: ReadEvent): ReadCallback | Refused {
  const events = new Map<string, EventContent>();
  for (const [index, item] of items.entries()) {
    const event = readEvent(item, `event ${index} of the batch: `);
    if (isRefused(event)) invalid ??= event;
    else if (!events.has(event.eventId)) events.set(event.eventId, event);
  }
  if (events.size === 0 && invalid !== undefined) return invalid;
  return { kind: "batch", events: [...events.values()], invalid };
}
