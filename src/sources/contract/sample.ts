import { isJsonObject, type JsonObject, type JsonValue, type PathKey, parsePath } from "../../domain/index.ts";
import type { BodyFormat, InnerText } from "../formats/body-formats.ts";
import type { ContractData } from "./event-contract.ts";
import type { EventIdentity } from "./identity.ts";
import { compileText, type TextPlace } from "./locate.ts";
import { makeSample, type OwnSample, SampleDraft } from "./sample-draft.ts";

/** The request for a sample of a callback. */
export interface SampleRequest {
  readonly type: string;
  /** A new one where it is left out, or the one in `data`. */
  readonly id?: string | undefined;
  readonly newId: string;
  /** The event's time. */
  readonly now: Date;
  /** The handler's `data`, over that of the sample. */
  readonly data?: JsonObject | undefined;
}

export interface SampleCallback {
  /** `Content-Type` among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Makes samples of callbacks that the contract reads as events. A sample is the preset's, or has no more than the
 * contract's places. The caller checks that the event has the type: no place may be able to hold it.
 * @param identity each sample has bytes of its own where they are the key
 * @returns a function that throws a TypeError for a body that cannot be made here
 */
export function createSample(
  contract: ContractData,
  identity: EventIdentity,
  presetSample?: OwnSample,
): (request: SampleRequest) => SampleCallback {
  const type = [contract.type].flat();
  const id = [contract.id].flat();
  return ({ type: wanted, id: givenId, newId, now, data }) => {
    const made = presetSample && makeSample(presetSample, wanted, givenId ?? newId, now);
    const draft = new SampleDraft(contract.batch, made);
    if (data !== undefined)
      merge(draft, [contract.data ?? (contract.batch === undefined ? "body" : "item")].flat(), data);
    if (textAt(draft, type) !== wanted) type.some((place) => setAt(draft, place, wanted));
    setTime(draft, contract.eventTime, now);
    const taken = new Set([...type, contract.eventTime?.at ?? ""].flatMap(placesIn));
    if (givenId === undefined ? textAt(draft, id) === undefined : textAt(draft, id) !== givenId)
      setId(draft, id, taken, givenId ?? newId);
    if (identity === "bytes" && !JSON.stringify(draft.body).includes(givenId ?? newId))
      draft.set("body.sample", givenId ?? newId);
    return encoded(draft, contract);
  };
}

function textAt(draft: SampleDraft, places: readonly TextPlace[]): string | undefined {
  const text = compileText(places).read(draft);
  return "text" in text ? text.text : undefined;
}

/** Into the first place that is there; into the last where none is. */
function merge(draft: SampleDraft, places: readonly string[], data: JsonObject): void {
  const place = places.find((one) => draft.value(one) !== undefined) ?? places.at(-1) ?? "body";
  const there = draft.value(place);
  draft.set(place, { ...(isJsonObject(there) ? there : {}), ...data });
}

/** @returns false for a place that cannot hold the text */
function setAt(draft: SampleDraft, place: TextPlace, text: string): boolean {
  if (typeof place !== "string" || place.startsWith("=")) return false;
  if (!place.includes("{")) return draft.set(place, text);
  const values = split(place, text);
  return values?.every(([inner, value]) => draft.set(inner, value)) ?? false;
}

/** A text as the parts of a template would make it: of `{body.type}.{body.action}` the first ends at the first dot. */
function split(template: string, text: string): [string, string][] | undefined {
  const parts = template.split(/[{}]/);
  const values: [string, string][] = [];
  if (!text.startsWith(parts[0] ?? "")) return undefined;
  let position = parts[0]?.length ?? 0;
  for (let index = 1; index < parts.length; index += 2) {
    const next = parts[index + 1] ?? "";
    const isLast = index + 2 >= parts.length;
    const end = isLast ? text.length - next.length : text.indexOf(next, position + 1);
    if (end <= position || (isLast && !text.endsWith(next))) return undefined;
    values.push([parts[index] ?? "", text.slice(position, end)]);
    position = end + next.length;
  }
  return values;
}

function placesIn(place: TextPlace): string[] {
  if (typeof place !== "string" || place.startsWith("=")) return [];
  return place.includes("{") ? place.split(/[{}]/).filter((_, index) => index % 2 === 1) : [place];
}

/** Into the parts of a template that neither the type nor the time has taken. An id that no place can hold makes the body unique. */
function setId(draft: SampleDraft, places: readonly TextPlace[], taken: ReadonlySet<string>, id: string): void {
  for (const place of places) {
    const free = placesIn(place).filter((one) => !taken.has(one));
    const empty = free.filter((one) => draft.value(one) === undefined);
    const [first] = free;
    const set = (empty.length === 0 ? [first ?? ""] : empty).filter((one) => draft.set(one, id));
    if (set.length > 0) return;
  }
  if (draft.value("body.id") === undefined) draft.set("body.id", id);
}

function setTime(draft: SampleDraft, eventTime: ContractData["eventTime"], now: Date): void {
  if (eventTime === undefined || draft.value(eventTime.at) !== undefined) return;
  const ms = now.getTime();
  const values = { seconds: Math.floor(ms / 1_000), milliseconds: ms, iso: now.toISOString() };
  draft.set(eventTime.at, values[eventTime.unit]);
}

function encoded(draft: SampleDraft, { body = "json", decode = [], encrypt }: ContractData): SampleCallback {
  const content = structuredClone(draft.body);
  for (const inner of decode.toReversed()) encodeInner(content, inner);
  const [type, text] = encode(formatOf(body, draft), encrypt?.(content) ?? content);
  return { headers: { "Content-Type": type, ...draft.headers }, body: Buffer.from(text) };
}

const FORM = "application/x-www-form-urlencoded";

function formatOf(body: NonNullable<ContractData["body"]>, draft: SampleDraft): BodyFormat {
  const type = draft.header("content-type") ?? "application/json";
  if (body === "json-or-form") return type === FORM ? "form" : "json";
  if (typeof body === "object" && "orJson" in body && type !== FORM) return "json";
  if (typeof body === "string" || !("byContentType" in body)) return body;
  return body.byContentType[type] ?? body.byContentType["*"] ?? "json";
}

function encode(format: BodyFormat, content: JsonValue): [contentType: string, text: string] {
  if (format === "json") return ["application/json", JSON.stringify(content)];
  if (format === "form" && isJsonObject(content))
    return [FORM, new URLSearchParams(Object.entries(content).map(fieldOf)).toString()];
  if (typeof format === "object" && "form" in format)
    return [FORM, new URLSearchParams({ [format.form]: JSON.stringify(content) }).toString()];
  if (format === "text" && isJsonObject(content)) return ["text/plain", String(content.text ?? "")];
  if (format === "none") return ["application/json", ""];
  const name = typeof format === "string" ? format : "multipart";
  throw new TypeError(`got a body of the format ${name}; have the platform send a test event`);
}

const fieldOf = ([name, value]: [string, unknown]): [string, string] => [
  name,
  typeof value === "object" ? JSON.stringify(value) : String(value),
];

/** Encodes a value that the contract decodes inside the body. */
function encodeInner(content: JsonValue, { at, as }: InnerText): void {
  const path: readonly PathKey[] = parsePath(at.slice("body".length)) ?? [];
  let holder: JsonValue | undefined = content;
  for (const key of path.slice(0, -1)) holder = isJsonObject(holder) ? holder[key] : undefined;
  const last = path.at(-1) ?? "";
  const value = isJsonObject(holder) ? holder[last] : undefined;
  if (value === undefined || !isJsonObject(holder)) return;
  if (as === "jws") throw new TypeError("only the platform can sign a text inside its body; have it send a test event");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  holder[last] = as === "json" ? text : Buffer.from(text).toString("base64");
}
