import type { MissedCallback } from "./reconciliation.ts";

/** A number that is written again with the digits that it came with. */
interface RawNumber {
  readonly rawJSON: string;
}

/** ECMAScript, "JSON.parse source text access"; Node has it from version 21 on, TypeScript's library not yet. */
const sourceTexts = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** JSON whose numbers keep their digits when they are written again. @throws SyntaxError */
export function parseExact(text: string): unknown {
  return sourceTexts.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? sourceTexts.rawJSON(source) : value,
  );
}

/** @returns undefined where the value is no object or has no such property of its own */
export function property(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** A text, or the digits of a number; undefined for anything else, and for an empty text. */
export function textProperty(value: unknown, name: string): string | undefined {
  const propertyValue = property(value, name);
  if (typeof propertyValue === "string") return propertyValue === "" ? undefined : propertyValue;
  if (typeof propertyValue === "number") return String(propertyValue);
  return sourceTexts.isRawJSON(propertyValue) ? propertyValue.rawJSON : undefined;
}

/** The value as the body of a callback. Its spacing is that of no platform: only its content is the same. */
export function callbackOf(value: unknown, headers: MissedCallback["headers"] = {}): MissedCallback {
  return { headers: { ...headers, "content-type": ["application/json"] }, body: Buffer.from(JSON.stringify(value)) };
}
