import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import secureJson from "secure-json-parse";
import {
  type EventKey,
  isJsonObject,
  isRefused,
  type JsonObject,
  type JsonValue,
  parseJson,
  type Refused,
  refused,
} from "../domain/index.ts";
import { replaceInexactNumbers, scanJson } from "./json-numbers.ts";

const MAX_NESTING = 64;
const MAX_ID_BYTES = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

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

/**
 * The bytes of an authentic event: a number that a JavaScript number would round is a string of its digits in the object.
 * A stranger's body is not worth that work.
 */
export function parseEvent(body: Uint8Array): { readonly object: JsonObject } | Refused {
  return parseObject(body, true);
}

/** Bounded before parsing: a parser takes a million levels, and whatever writes the value again does not. */
export function parseObject(
  body: Uint8Array,
  keepsDigits = false,
): { readonly object: JsonObject } | Refused {
  const hasByteOrderMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  if (hasByteOrderMark || !isUtf8(body)) return refused("body_not_utf8");
  const found = scanJson(body, MAX_NESTING);
  if (found === "too deep") return refused("body_too_deep");
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  let value: JsonValue;
  try {
    value = parse(text);
    // Only what is valid is written again: quotes would make a number at the place of a key valid too.
    const exact = keepsDigits && found === "has long numbers" ? replaceInexactNumbers(body) : undefined;
    if (exact !== undefined) value = withNumbersOf(value, parse(exact));
  } catch {
    return refused(parseJson(text) !== undefined ? "body_forbidden_key" : "body_not_json");
  }
  return isJsonObject(value) ? { object: value } : refused("body_not_object");
}

/** The texts of the envelope: a number there is refused, and its digits must not make a text of it. */
const TEXTS = ["event_id", "event_type"];

function withNumbersOf(plain: JsonValue, exact: JsonValue): JsonValue {
  if (!isJsonObject(plain) || !isJsonObject(exact)) return exact;
  for (const name of TEXTS) {
    const value = plain[name];
    if (typeof value === "number") exact[name] = value;
  }
  return exact;
}

function parse(text: string): JsonValue {
  return secureJson.parse(text, { protoAction: "error", constructorAction: "error" });
}

function idFault(id: unknown): string | undefined {
  if (id === undefined) return "missing; expected a string";
  if (typeof id !== "string") return "expected a string";
  if (id === "") return "is empty";
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return `is longer than ${MAX_ID_BYTES} bytes`;
  if (CONTROL.test(id)) return "holds control characters";
  return id.isWellFormed() ? undefined : "holds lone surrogates";
}

/** The fingerprint of a body, lowercase hex. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}
