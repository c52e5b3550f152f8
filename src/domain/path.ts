import { isJsonObject, type JsonValue } from "./event.ts";

/** A property's name, or an index of an array. */
export type PathKey = string | number;

const STEP = /\.([^.[\]{}\s]+)|\[(\d{1,6})\]|\["([^"{}]+)"\]/y;

/** `.a.b[0]["c d"]` as its keys; undefined for any other text. */
export function parsePath(text: string): readonly PathKey[] | undefined {
  const keys: PathKey[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const step = STEP.exec(text);
    if (step === null) return undefined;
    keys.push(step[1] ?? step[3] ?? Number(step[2]));
  }
  return keys;
}

/** A property of an object itself or an element of an array: a sender's key may name an inherited property. */
export function ownValue(value: JsonValue | undefined, key: PathKey): JsonValue | undefined {
  if (typeof key === "number") return Array.isArray(value) ? value[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function valueAt(value: JsonValue | undefined, path: readonly PathKey[]): JsonValue | undefined {
  let current = value;
  for (const key of path) current = ownValue(current, key);
  return current;
}

/** A part of an address as it is sent; undefined where its percent-encoding cannot be read. */
export function percentDecoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
