import { createHash } from "node:crypto";
import {
  fitsTypePattern,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PathKey,
  parsePath,
  valueAt,
} from "../../domain/index.ts";
import type { BatchData } from "./batch.ts";
import type { Readable } from "./reading.ts";

interface Made {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject | JsonValue[];
}

interface SampleData extends Made {
  /** By a type's pattern, the first that fits: what its samples have beside or instead of the others. */
  readonly types?: Readonly<Record<string, Made & { readonly body: JsonObject }>>;
}

/**
 * A preset's own sample, in the shape of its platform; an array where the body is one. As data, its texts have
 * `{type}`, `{id}` and `{resource}` (the type without its last part). `{object}` differs from event to event, for the id
 * of what the event is about. The time is `{iso}`, `{seconds}` or `{milliseconds}`. These are for values that the contract
 * has no place for.
 */
export type OwnSample = SampleData | ((type: string, id: string, now: Date) => Made);

type Root = "body" | "item" | "parent";

/** As long as the platforms' own. */
const OBJECT_ID_LENGTH = 24;

export function makeSample(presetSample: OwnSample, type: string, id: string, now: Date): Made {
  if (typeof presetSample === "function") return presetSample(type, id, now);
  const ms = now.getTime();
  const seconds = Math.floor(ms / 1_000);
  const [resource = type] = /^.+(?=\.)/.exec(type) ?? [];
  const times = { iso: now.toISOString(), seconds, milliseconds: ms };
  const object = createHash("sha256").update(id).digest("hex").slice(0, OBJECT_ID_LENGTH);
  const texts: Record<string, unknown> = { type, resource, id, object, ...times };
  const filled = JSON.stringify(presetSample).replace(/\{(\w+)\}/g, (_, name: string) => {
    return JSON.stringify(String(texts[name])).slice(1, -1);
  });
  const { types = {}, ...made }: SampleData = JSON.parse(filled);
  const ofType = Object.entries(types).find(([pattern]) => fitsTypePattern(pattern, type))?.[1];
  if (ofType === undefined) return made;
  return { headers: { ...made.headers, ...ofType.headers }, body: { ...made.body, ...ofType.body } };
}

/** A sample while it is made: each place can be read, as in a callback that arrived, and set. */
export class SampleDraft implements Readable {
  readonly body: JsonValue;
  /** The first event of a batch, and what holds it. */
  readonly item: JsonValue | undefined;
  readonly parent: JsonValue | undefined;
  readonly headers: Record<string, string>;

  constructor(batch: BatchData | undefined, made: Made | undefined) {
    this.headers = { ...made?.headers };
    const bare = { body: made?.body ?? {}, item: undefined, parent: undefined };
    ({ body: this.body, item: this.item, parent: this.parent } = batch ? batched(batch, made?.body) : bare);
  }

  header(name: string): string | undefined {
    return Object.entries(this.headers).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
  }

  readonly query = () => undefined;
  /** A hash cannot be set. */
  readonly sha256 = () => "";
  readonly bodySha256 = () => "";
  readonly url = () => "";
  readonly delivery = () => "";

  value(place: string): JsonValue | undefined {
    if (place.startsWith("header.")) return this.header(place.slice("header.".length));
    const location = pathOf(place);
    return location === undefined ? undefined : valueAt(this[location.root], location.path);
  }

  /** False for a place that cannot be set. */
  set(place: string, value: JsonValue): boolean {
    if (place.startsWith("header.")) {
      const name = place.slice("header.".length);
      const there = Object.keys(this.headers).find((one) => one.toLowerCase() === name.toLowerCase());
      this.headers[there ?? name] = String(value);
      return true;
    }
    const location = pathOf(place);
    const root = location === undefined ? undefined : this[location.root];
    if (location === undefined || root === undefined) return false;
    if (location.path.length > 0) return put(root, location.path, value);
    // The body itself: its own object stays, since a batch's item may be a part of it.
    if (!isJsonObject(root) || !isJsonObject(value)) return false;
    Object.assign(root, value);
    return true;
  }
}

function pathOf(place: string): { root: Root; path: readonly PathKey[] } | undefined {
  const root = (["body", "item", "parent"] as const).find((one) => place.startsWith(one));
  const path = root === undefined ? undefined : parsePath(place.slice(root.length));
  return root === undefined || path === undefined ? undefined : { root, path };
}

function put(root: JsonValue, path: readonly PathKey[], value: JsonValue): boolean {
  const [key = "", ...rest] = path;
  const holder = root as JsonObject;
  if (typeof key === "number" ? !Array.isArray(root) : !isJsonObject(root)) return false;
  const [next] = rest;
  if (next === undefined) {
    holder[key] = value;
    return true;
  }
  holder[key] ??= typeof next === "number" ? [] : {};
  return put(holder[key] as JsonValue, rest, value);
}

/** A body with one event in the (first) array of its batch. */
function batched({ at }: BatchData, made: JsonValue | undefined) {
  const [first = "body"] = [at].flat();
  const [outer = "", ...inner] = (first.endsWith("[]") ? first.slice(0, -2) : first).split("[]");
  if (made !== undefined) return { body: made, ...existing(made, outer, inner) };
  const item: JsonObject = {};
  let value: JsonValue = [item];
  let parent: JsonValue | undefined;
  for (const path of inner.toReversed()) {
    const element: JsonObject = {};
    put(element, parsePath(path) ?? [], value);
    parent ??= element;
    value = [element];
  }
  const path = parsePath(outer.slice("body".length)) ?? [];
  const body: JsonObject = {};
  if (path.length > 0) put(body, path, value);
  return { body: path.length > 0 ? body : value, item, parent };
}

function existing(body: JsonValue, outer: string, inner: readonly string[]) {
  let parent: JsonValue | undefined;
  let item = valueAt(body, [...(parsePath(outer.slice("body".length)) ?? []), 0]);
  for (const path of inner) {
    parent = item;
    item = valueAt(item, [...(parsePath(path) ?? []), 0]);
  }
  return { item: item ?? {}, parent };
}
