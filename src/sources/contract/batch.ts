import {
  isJsonObject,
  type JsonValue,
  type PathKey,
  parsePath,
  type Refused,
  refused,
  valueAt,
} from "../../domain/index.ts";
import { malformedBody } from "../formats/form.ts";
import { wrongOption } from "../option-error.ts";
import { type CallbackReading, ItemReading } from "./reading.ts";

export interface BatchData {
  /**
   * The places of the events: `body`, `body.events`, `body.entry[].changes[]`; of several places all events count. The
   * element that holds an inner array is the `parent` of its events.
   */
  readonly at: string | readonly string[];
  /** The events of one element, where that may hold several. It must not throw. */
  readonly split?: Split;
}

type Split = (element: JsonValue, parent: JsonValue | undefined) => readonly JsonValue[];

interface Item {
  readonly item: JsonValue;
  readonly parent?: JsonValue | undefined;
}

const MAX_EVENTS = 10_000;

interface ItemPath {
  readonly at: string;
  /** From the body to the outer array, from each of its elements to the inner one, and so on. */
  readonly paths: readonly (readonly PathKey[])[];
}

/** A callback's items, and the reason to keep it where an outer element holds no inner items. */
export interface BatchItems {
  readonly items: readonly ItemReading[];
  readonly invalid?: Refused | undefined;
}

/** @throws TypeError for an invalid place, when the source is created */
export function compileBatch({
  at,
  split = (element) => [element],
}: BatchData): (reading: CallbackReading) => BatchItems | Refused {
  const places = (typeof at === "string" ? [at] : at).map(compilePath);
  const names = places.map((place) => place.at.slice(place.at.startsWith("body.") ? 5 : 0)).join(" or ");
  return (reading) => {
    const { body } = reading;
    const collected: Found = { items: [], holders: new Set(), nonArrays: new Set() };
    let isThere = false;
    for (const { paths } of places) {
      const [outer = [], ...inner] = paths;
      const array = valueAt(body, outer);
      if (array === undefined || array === null) continue;
      isThere = true;
      if (!Array.isArray(array)) return refused("event_invalid", { message: `${names}: expected an array` });
      const fault = collect(collected, { array, inner, split });
      if (fault !== undefined) return fault;
    }
    // A keep-alive may leave the array out.
    if (!isThere && !(isJsonObject(body) && Object.keys(body).length === 0))
      return refused("event_invalid", { message: `${names}: missing; expected an array` });
    const items = collected.items.map((item) => new ItemReading(reading, item));
    const isRead = [...collected.nonArrays].every((other) => collected.holders.has(other));
    const message = `${names}: missing in an element that holds events, expected an array or an object`;
    return { items, ...(!isRead && { invalid: refused("event_invalid", { message }) }) };
  };
}

function compilePath(at: string): ItemPath {
  const [outer = "", ...inner] = at.endsWith("[]") ? at.slice(0, -2).split("[]") : at.split("[]");
  const paths = [outer.startsWith("body") ? outer.slice("body".length) : ".", ...inner].map(parsePath);
  if (paths.includes(undefined)) throw wrongOption(undefined, at, "a place such as body.events");
  return { at, paths: paths as (readonly PathKey[])[] };
}

interface Found {
  readonly items: Item[];
  /** The elements in which a place finds an inner array, or one object in its place. */
  readonly holders: Set<JsonValue>;
  /** The elements in which a place finds nothing, and the values that are neither. */
  readonly nonArrays: Set<JsonValue>;
}

function collect(
  found: Found,
  level: { array: JsonValue[]; inner: readonly (readonly PathKey[])[]; split: Split; parent?: JsonValue },
): Refused | undefined {
  const { array, inner, split, parent } = level;
  const [next, ...rest] = inner;
  for (const element of array) {
    const value = next && valueAt(element, next);
    if (next === undefined) for (const item of split(element, parent)) found.items.push({ item, parent });
    else if (Array.isArray(value) || isJsonObject(value)) {
      found.holders.add(element);
      const fault = collect(found, { array: [value].flat(), inner: rest, split, parent: element });
      if (fault !== undefined) return fault;
    } else found.nonArrays.add(value ?? element);
    if (found.items.length > MAX_EVENTS) return malformedBody(`the body holds more than ${MAX_EVENTS} events`);
  }
  return undefined;
}
