import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { JsonValue } from "../domain/index.ts";
import { nestsTooDeep, parseJson } from "./json-mask.ts";

interface Rules {
  readonly json: (value: JsonValue) => JsonValue;
  readonly parameters: (text: string) => string;
}

const MAX_PARSED_BYTES = 262_144;
const MAX_STORED_BYTES = 65_536;
const START_CHARACTERS = 2_048;
/** The first pair must have a short name and a value: base64 text may end in `=`, and is no form. */
const FORM = /^[A-Za-z0-9%+._~*!'()[\]-]{1,128}=[A-Za-z0-9%+._~*!'()&:/,@-][A-Za-z0-9%+._~*!'()&=:/,@[\]-]*$/;

interface BodyMask {
  body(bytes: Uint8Array): string;
  parsed(value: JsonValue, bytes: Uint8Array): string;
}

/** Masks a body: JSON or form text; of anything else only length and fingerprint are told, never the content. */
export function createBodyMask({ json, parameters }: Rules): BodyMask {
  return {
    body(bytes) {
      if (bytes.length === 0) return "";
      if (bytes.length > MAX_PARSED_BYTES || !isUtf8(bytes)) return unparsed(bytes);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
      const value = parseJson(text);
      if (typeof value === "object" && value !== null) {
        return nestsTooDeep(value) ? unparsed(bytes) : bounded(JSON.stringify(json(value)), bytes);
      }
      return FORM.test(text) ? bounded(parameters(text), bytes) : unparsed(bytes);
    },
    parsed: (value, bytes) =>
      bytes.length > MAX_PARSED_BYTES ? unparsed(bytes) : bounded(JSON.stringify(json(value)), bytes),
  };
}

function unparsed(bytes: Uint8Array): string {
  return JSON.stringify({ unparsed: true, ...fingerprint(bytes) });
}

function bounded(text: string, bytes: Uint8Array): string {
  if (Buffer.byteLength(text) <= MAX_STORED_BYTES) return text;
  const start = text.slice(0, START_CHARACTERS).toWellFormed();
  return JSON.stringify({ truncated: true, ...fingerprint(bytes), start });
}

function fingerprint(bytes: Uint8Array): { bytes: number; sha256: string } {
  return { bytes: bytes.length, sha256: hash("sha256", bytes, "hex") };
}
