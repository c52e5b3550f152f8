import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import secureJson from "secure-json-parse";
import {
  isJsonObject,
  isRefused,
  type JsonObject,
  type JsonValue,
  parseJson,
  type Refused,
  refused,
} from "../../domain/index.ts";
import { replaceInexactNumbers, scanJson } from "./json-numbers.ts";

/** How deep a stored event may nest. */
export const MAX_NESTING = 64;

export interface ParseOptions {
  /** A number that a JavaScript number would round becomes a string of its digits. An unverified body is not worth that work. */
  readonly keepsDigits?: boolean;
  /** Properties of the top object whose numbers stay numbers all the same. */
  readonly plainNumbers?: readonly string[];
  readonly maxNesting?: number;
}

/**
 * JSON of any kind, a top-level array among them. Bounded before parsing: a parser takes a million levels, and whatever
 * writes the value again does not.
 */
export function parseJsonBody(
  body: Uint8Array,
  { keepsDigits = false, plainNumbers = [], maxNesting = MAX_NESTING }: ParseOptions = {},
): { readonly value: JsonValue } | Refused {
  const json = withoutByteOrderMark(body);
  if (!isUtf8(json)) return refused("body_not_utf8");
  const scan = scanJson(json, maxNesting);
  if (scan === "too deep") return refused("body_too_deep");
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("utf8");
  try {
    const value = parse(text);
    // Only what is valid is written again: quotes would make a number at the place of a key valid too.
    const exact = keepsDigits && scan === "has long numbers" ? replaceInexactNumbers(json) : undefined;
    return { value: exact === undefined ? value : withNumbersOf(value, parse(exact), plainNumbers) };
  } catch {
    return refused(parseJson(text) !== undefined ? "body_forbidden_key" : "body_not_json");
  }
}

/** A reader may skip the mark (RFC 8259 §8.1); what is verified has it. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** The texts of the envelope: a number there is refused, and its digits must not make a text of it. */
const TEXTS = ["event_id", "event_type"];

/** The bytes of an authentic event in the envelope of SPEC 2.1. */
export function parseEvent(body: Uint8Array): { readonly object: JsonObject } | Refused {
  return objectOf(parseJsonBody(body, { keepsDigits: true, plainNumbers: TEXTS }));
}

/** A body that must be an object; its numbers are JavaScript numbers. */
export function parseObject(body: Uint8Array): { readonly object: JsonObject } | Refused {
  return objectOf(parseJsonBody(body));
}

function objectOf(parsed: { readonly value: JsonValue } | Refused): { readonly object: JsonObject } | Refused {
  if (isRefused(parsed)) return parsed;
  return isJsonObject(parsed.value) ? { object: parsed.value } : refused("body_not_object");
}

function withNumbersOf(plain: JsonValue, exact: JsonValue, names: readonly string[]): JsonValue {
  if (!isJsonObject(plain) || !isJsonObject(exact)) return exact;
  for (const name of names) {
    const value = plain[name];
    if (typeof value === "number") exact[name] = value;
  }
  return exact;
}

function parse(text: string): JsonValue {
  return secureJson.parse(text, { protoAction: "error", constructorAction: "error" });
}

/** The fingerprint of a body, lowercase hex. */
export function sha256Hex(content: Uint8Array | string): string {
  return hash("sha256", content, "hex");
}
