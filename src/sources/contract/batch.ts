import {
  isJsonObject,
  type JsonValue,
  type PathKey,
  parsePath,
  type Refused,
  refused,
  valueAt,
} from "../../domain/index.ts";
import { malformedBody } from "./form.ts";
import { type HashBytes, ItemReading, type Readable } from "./reading.ts";

export interface BatchData {
  /**
   * Where the events stand: `body`, `body.events`, `body.entry[].changes[]`; of several places all events count. The
   * element that holds an inner array is the `parent` of its events.
   */
  readonly at: string | readonly string[];
  /** The events of one element, where that may hold several. It must not throw. */
  readonly split?: Split;
}

type Split = (element: JsonValue) => readonly JsonValue[];

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

/** @throws TypeError for an invalid place, when the source is created */
export function compileBatch(
  { at, split = (element) => [element] }: BatchData,
  hashBytes: HashBytes,
): (reading: Readable) => readonly ItemReading[] | Refused {
  const places = (typeof at === "string" ? [at] : at).map(compilePath);
  const names = places.map((place) => place.at.slice(place.at.startsWith("body.") ? 5 : 0)).join(" or ");
  return (reading) => {
    const { body } = reading;
    const items: Item[] = [];
    let isThere = false;
    for (const { paths } of places) {
      const [outer = [], ...inner] = paths;
      const found = valueAt(body, outer);
      if (found === undefined || found === null) continue;
      isThere = true;
      if (!Array.isArray(found)) return refused("event_invalid", { message: `${names}: expected an array` });
      const fault = collect(items, { array: found, inner, split });
      if (fault !== undefined) return fault;
    }
    // A keep-alive may leave the array out.
    const isEmpty = isJsonObject(body) && Object.keys(body).length === 0;
    if (isThere || isEmpty) return items.map((item) => new ItemReading(reading, item, hashBytes));
    return refused("event_invalid", { message: `${names}: missing; expected an array` });
  };
}

function compilePath(at: string): ItemPath {
  const [outer = "", ...inner] = at.endsWith("[]") ? at.slice(0, -2).split("[]") : at.split("[]");
  const paths = [outer.startsWith("body") ? outer.slice("body".length) : ".", ...inner].map(parsePath);
  if (paths.includes(undefined)) throw new TypeError(`got "${at}", expected a place such as body.events`);
  return { at, paths: paths as (readonly PathKey[])[] };
}

/** Elements without the inner array have no events: another place may find theirs. */
function collect(
  items: Item[],
  level: { array: JsonValue[]; inner: readonly (readonly PathKey[])[]; split: Split; parent?: JsonValue },
): Refused | undefined {
  const { array, inner, split, parent } = level;
  const [next, ...rest] = inner;
  for (const element of array) {
    const found = next === undefined ? undefined : valueAt(element, next);
    if (next === undefined) for (const item of split(element)) items.push({ item, parent });
    else if (Array.isArray(found)) {
      const fault = collect(items, { array: found, inner: rest, split, parent: element });
      if (fault !== undefined) return fault;
    } else if (rest.length === 0 && isJsonObject(found)) items.push({ item: found, parent: element });
    if (items.length > MAX_EVENTS) return malformedBody(`the body holds more than ${MAX_EVENTS} events`);
  }
  return undefined;
}
