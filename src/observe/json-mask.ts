import type { JsonObject, JsonValue } from "../domain/index.ts";
import { MASKED } from "./secret-shapes.ts";

/** Arrays and objects may nest this deep, as in the bodies that are accepted. */
export const MAX_LEVELS = 64;
const SHORTEST_SECRET_NUMBER = 10_000_000;

interface Rules {
  readonly isSecretKey: (key: string) => boolean;
  readonly shapes: (text: string) => string;
}

/** Masks a JSON value key by key; what nests too deep to be looked at is masked whole. */
export function createJsonMask({ isSecretKey, shapes }: Rules): (value: JsonValue) => JsonValue {
  function mask(value: JsonValue, level: number): JsonValue {
    if (typeof value === "string") return maskString(value, level);
    if (typeof value === "number") return maskNumber(value);
    if (typeof value !== "object" || value === null) return value;
    if (level > MAX_LEVELS) return MASKED;
    return Array.isArray(value) ? value.map((item) => mask(item, level + 1)) : maskObject(value, level);
  }

  function maskObject(value: JsonObject, level: number): JsonObject {
    const masked: JsonObject = {};
    for (const key of Object.keys(value)) {
      const item = isSecretKey(key) ? MASKED : mask(value[key] ?? null, level + 1);
      set(masked, shapes(key), item);
    }
    return masked;
  }

  /** Platforms put JSON into strings (a message inside an envelope); its keys count like any others. */
  function maskString(text: string, level: number): JsonValue {
    const inner = text.startsWith("{") || text.startsWith("[") ? parseJson(text) : undefined;
    if (typeof inner !== "object" || inner === null) return shapes(text);
    const masked = JSON.stringify(mask(inner, level));
    return masked === JSON.stringify(inner) ? text : masked;
  }

  function maskNumber(value: number): JsonValue {
    if (Math.abs(value) < SHORTEST_SECRET_NUMBER || !Number.isInteger(value)) return value;
    const text = String(value);
    return shapes(text) === text ? value : MASKED;
  }

  return (value) => mask(value, 1);
}

/** The value, or undefined where the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function nestsTooDeep(value: JsonValue, levels = MAX_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => nestsTooDeep(item, levels - 1));
}

function set(object: JsonObject, key: string, value: JsonValue): void {
  if (key !== "__proto__") object[key] = value;
  // An assignment would set the prototype instead of a key.
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
