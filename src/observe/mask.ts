import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { JsonValue } from "../domain/index.ts";
import { createShapeMask, MASKED } from "./secret-shapes.ts";
import { sensitiveHeaders, sensitiveKeys } from "./sensitive-names.ts";

export interface MaskOptions {
  /** Header names and body keys on top of the built-in ones. */
  readonly headers: readonly string[];
  readonly keys: readonly string[];
  /** The service's own secrets, masked wherever they turn up. */
  readonly secretValues: readonly string[];
}

/** Takes secrets out of what is logged or stored for people to read (SPEC 1.8). */
export interface Mask {
  headers(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, string>;
  url(url: string): string;
  json(value: JsonValue): JsonValue;
  /** Error messages and stacks. */
  text(text: string): string;
  /** A body: masked JSON or form text, or a note with its length and fingerprint where it is neither. */
  body(bytes: Uint8Array): string;
}

const MAX_HEADER_CHARACTERS = 1_024;
const MAX_PARSED_BYTES = 262_144;
const MAX_STORED_CHARACTERS = 65_536;
const START_CHARACTERS = 2_048;
const MAX_DEPTH = 64;
const FORM = /^[A-Za-z0-9%+._~*!'()-]+=[A-Za-z0-9%+._~*!'()&=:/,@-]*$/;
const PAIR = /(["']?)([A-Za-z][A-Za-z0-9_.-]{1,40})\1(\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s"',;&)}\]]+)/g;

export function createMask({ headers, keys, secretValues }: MaskOptions): Mask {
  const isSecretHeader = sensitiveHeaders(headers);
  const isSecretKey = sensitiveKeys(keys);
  const shapes = createShapeMask(secretValues);

  function json(value: JsonValue, depth = 0): JsonValue {
    if (typeof value === "string") return shapes(value);
    if (typeof value === "number") return Number.isSafeInteger(value) ? unlessCard(value) : value;
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) return MASKED;
    if (Array.isArray(value)) return value.map((item) => json(item, depth + 1));
    // fromEntries defines a key such as __proto__ instead of assigning through it.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        shapes(key),
        isSecretKey(key) ? MASKED : json(item, depth + 1),
      ]),
    );
  }

  function unlessCard(value: number): JsonValue {
    const text = String(value);
    return shapes(text) === text ? value : MASKED;
  }

  function form(text: string): string {
    return text
      .split("&")
      .map((pair) => {
        const [name = "", ...rest] = pair.split("=");
        if (rest.length === 0) return shapes(pair);
        return `${name}=${isSecretKey(decoded(name)) ? MASKED : maskedParameter(rest.join("="))}`;
      })
      .join("&");
  }

  function maskedParameter(value: string): string {
    const plain = decoded(value);
    const masked = shapes(plain);
    return masked === plain ? value : masked;
  }

  function body(bytes: Uint8Array): string {
    if (bytes.length === 0) return "";
    if (bytes.length > MAX_PARSED_BYTES || !isUtf8(bytes)) return unparsed(bytes);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
    const value = parsed(text);
    if (typeof value === "object" && value !== null) return bounded(JSON.stringify(json(value)), bytes);
    return FORM.test(text) ? bounded(form(text), bytes) : unparsed(bytes);
  }

  return {
    headers: (given) =>
      Object.fromEntries(
        Object.entries(given).map(([name, value = ""]) => {
          const text = typeof value === "string" ? value : value.join(", ");
          return [
            name,
            isSecretHeader(name.toLowerCase()) ? MASKED : shapes(text).slice(0, MAX_HEADER_CHARACTERS),
          ];
        }),
      ),
    url(url) {
      const [path = "", ...query] = url.split("?");
      return query.length === 0 ? shapes(path) : `${shapes(path)}?${form(query.join("?"))}`;
    },
    json,
    text: (text) =>
      shapes(text).replace(PAIR, (pair, quote: string, name: string, between: string) =>
        isSecretKey(name) ? `${quote}${name}${quote}${between}${MASKED}` : pair,
      ),
    body,
  };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** What cannot be masked key by key is not shown at all. */
function unparsed(bytes: Uint8Array): string {
  return JSON.stringify({ unparsed: true, bytes: bytes.length, sha256: hash("sha256", bytes, "hex") });
}

function bounded(text: string, bytes: Uint8Array): string {
  if (text.length <= MAX_STORED_CHARACTERS) return text;
  const start = text.slice(0, START_CHARACTERS);
  return JSON.stringify({
    truncated: true,
    bytes: bytes.length,
    sha256: hash("sha256", bytes, "hex"),
    start,
  });
}
