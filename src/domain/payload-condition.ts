import { isJsonObject, type JsonValue, parseJson } from "./event.ts";
import { isSameNumber } from "./exact-number.ts";

/** A value at a path of payloads, such as `customer=cus_1`. */
export interface PayloadCondition {
  /** Names with dots between them; an array on the way stands for each of its members. */
  readonly path: string;
  readonly value: string;
}

/** In the place of what was erased. */
export const ERASED = "[erased]";
/** A shorter one may be a part of any text. */
const LEAST_IN_TEXT = 4;
/** The places at which platforms put an event's object: a path may begin at each. */
const ROOTS = [[], ["data"], ["data", "object"]] as const;

/** @param payload a parsed body; a form is an object of its fields */
export function meetsCondition(payload: unknown, { path, value }: PayloadCondition): boolean {
  const names = path.split(".");
  return ROOTS.some((root) => valuesAt(payload, [...root, ...names]).some((found) => isValue(found, value)));
}

/** Whether a body as it was sent meets it: JSON, a form, or the beginning of one in a log entry. */
export function bodyMeetsCondition(body: Uint8Array | string, condition: PayloadCondition): boolean {
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  const json = parseJson(text);
  if (json !== undefined) return meetsCondition(json, condition);
  if (meetsCondition(fieldsOf(text), condition)) return true;
  // A log entry may hold the beginning of a long body.
  return condition.value.length >= LEAST_IN_TEXT && text.includes(JSON.stringify(condition.value));
}

/** Of a form, in which a field may be repeated. */
function fieldsOf(text: string): Record<string, readonly string[]> {
  const byName = Map.groupBy(new URLSearchParams(text), ([name]) => name);
  return Object.fromEntries([...byName].map(([name, fields]) => [name, fields.map(([, value]) => value)]));
}

/** Whether the value is anywhere in a body, as in an item of a batch: wider than the condition. */
export function bodyHoldsValue(body: Uint8Array | string, { value }: PayloadCondition): boolean {
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  const json = parseJson(text);
  if (json === undefined) return text.includes(JSON.stringify(value)) || holdsValue(text, value);
  const open: unknown[] = [json];
  // No recursion: any sender may nest a body so deep that it would fail.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isValue(next, value) || (typeof next === "string" && holdsValue(next, value))) return true;
    if (typeof next === "object" && next !== null) for (const member of Object.values(next)) open.push(member);
  }
  return false;
}

/** A copy in which nothing holds the value. */
export function withoutValue(json: JsonValue, value: string): JsonValue {
  if (typeof json === "string") return textWithoutValue(json, value);
  if (Array.isArray(json)) return json.map((member) => withoutValue(member, value));
  if (!isJsonObject(json)) return isValue(json, value) ? ERASED : json;
  const members = Object.entries(json).map(([name, member]) => [
    textWithoutValue(name, value),
    withoutValue(member, value),
  ]);
  return Object.fromEntries(members);
}

export function textWithoutValue(text: string, value: string): string {
  if (text === value) return ERASED;
  if (value.length < LEAST_IN_TEXT) return text;
  let without = text;
  for (const form of formsOf(value)) without = without.replaceAll(form, () => ERASED);
  return without;
}

const holdsValue = (text: string, value: string): boolean => textWithoutValue(text, value) !== text;

let latest: { readonly value: string; readonly forms: ReadonlySet<string> } | undefined;

/** An erasure asks for those of one value many times. */
function formsOf(value: string): ReadonlySet<string> {
  if (latest?.value !== value) latest = { value, forms: newFormsOf(value) };
  return latest.forms;
}

/** The value as it stands in plain text, in JSON, in an address and in a form. */
function newFormsOf(value: string): ReadonlySet<string> {
  const inJson = JSON.stringify(value).slice(1, -1);
  const inAscii = inJson.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const inAddress = encodeURIComponent(value.toWellFormed());
  const inForm = new URLSearchParams({ value }).toString().slice("value=".length);
  const encoded = [inAddress, inAddress.replaceAll("%20", "+"), inForm];
  const lowerCase = encoded.map((text) => text.replace(/%../g, (byte) => byte.toLowerCase()));
  return new Set([value, inJson, inAscii, ...encoded, ...lowerCase]);
}

function isValue(found: unknown, value: string): boolean {
  if (typeof found === "number") return isSameNumber(String(found), value);
  return found === value;
}

function valuesAt(from: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (Array.isArray(from)) return from.flatMap((member) => valuesAt(member, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return [from];
  // A search finds the values of JSON in a text under the name of that text.
  const holder = typeof from === "string" && /^\s*[[{]/.test(from) ? parseJson(from) : from;
  if (Array.isArray(holder)) return valuesAt(holder, [name, ...rest]);
  return isJsonObject(holder) && Object.hasOwn(holder, name) ? valuesAt(holder[name], rest) : [];
}
