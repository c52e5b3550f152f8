import { isJsonObject, type JsonValue } from "./event.ts";

/** A property's name, or an index of an array. */
export type PathKey = string | number;

const STEP = /\.([^.[\]{}\s]+)|\[(\d{1,6})\]|\["([^"{}]+)"\]/y;

/** `.a.b[0]["c d"]` as its keys; undefined for any other text. */
export function parsePath(text: string): readonly PathKey[] | undefined {
  const keys: PathKey[] = [];
  STEP.lastIndex = 0;
  for (let at = 0; at < text.length; at = STEP.lastIndex) {
    const step = STEP.exec(text);
    if (step === null) return undefined;
    keys.push(step[1] ?? step[3] ?? Number(step[2]));
  }
  return keys;
}

/** Own properties of objects and elements of arrays alone: a sender's key may be the name of an inherited one. */
export function ownValue(value: JsonValue | undefined, key: PathKey): JsonValue | undefined {
  if (typeof key === "number") return Array.isArray(value) ? value[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function valueAt(value: JsonValue | undefined, path: readonly PathKey[]): JsonValue | undefined {
  let found = value;
  for (const key of path) found = ownValue(found, key);
  return found;
}

/** A part of an address as it is sent; undefined where its percent-encoding cannot be read. */
export function percentDecoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
