import { type JsonValue, ownValue, parsePath, valueAt } from "../../domain/index.ts";
import { optionError, wrongOption } from "../option-error.ts";
import { idFault } from "./event-id.ts";
import type { Readable } from "./reading.ts";

/**
 * A compiled place, which says where a value stands: `body.a.b[0].c`, `body["a[b]"]`, `header.X-Name`, `query.x`, and
 * `item.x` and `parent.x` in a batch. `sha256` is the hash of what was signed, in lowercase hex. `url` is the
 * registered one without its query, and `delivery` a key of this delivery only.
 */
export interface Location {
  /** In the platform's words: `data.id`, `the X-GitHub-Delivery header`. */
  readonly name: string;
  /** Whether it lies in the signed bytes. */
  readonly isSigned: boolean;
  /** Only own properties; undefined where there is nothing. */
  read(from: Readable): JsonValue | undefined;
}

/**
 * The place of a text: one place, a template with places in braces (`{body.type}.{body.action}`), or `=text` for that
 * text itself. In a template the parts' own texts are not escaped: choose a separator that they cannot hold. A function is
 * for what no place can say; it must not throw.
 */
export type TextPlace = string | ((from: Readable) => string | undefined);

/** The text at a place, or what is wrong with it, in words that follow the place's name. */
type LocatedText = { readonly text: string } | { readonly fault: string };

export interface TextLocation {
  readonly name: string;
  readonly isSigned: boolean;
  read(from: Readable): LocatedText;
}

const MISSING = "missing; expected a text or an integer";
const EXPECTED = "expected a text or an integer";

/** Whether a header (`header.x-id`) or the `query` is signed beside the body. */
type IsSignedPlace = (place: string) => boolean;

const bodyAlone: IsSignedPlace = () => false;

/** @throws TypeError for a text that names no place, when the source is created */
export function compileLocation(text: string, isSigned: IsSignedPlace = bodyAlone): Location {
  const end = text.search(/[.[]/);
  const [root, rest] = end === -1 ? [text, ""] : [text.slice(0, end), text.slice(end)];
  switch (root) {
    case "sha256":
    case "delivery":
    case "url": {
      if (rest !== "") break;
      const name = { url: "the address", sha256: "the SHA-256 of the body", delivery: "the delivery" }[root];
      return { name, isSigned: root === "sha256", read: (from) => from[root]() };
    }
    case "body":
    case "item":
    case "parent": {
      const path = parsePath(rest);
      if (path === undefined) break;
      return { name: pathName(root, rest), isSigned: true, read: (from) => valueAt(from[root], path) };
    }
    case "header":
    case "query": {
      const name = rest.slice(1);
      if (name === "" || !rest.startsWith(".")) break;
      const key = name.toLowerCase();
      if (root === "header")
        return { name: `the ${name} header`, isSigned: isSigned(`header.${key}`), read: (from) => from.header(key) };
      const signed = isSigned("query") || isSigned(`query.${name}`);
      return { name: `the query parameter ${name}`, isSigned: signed, read: (from) => from.query(name) };
    }
  }
  throw wrongOption(undefined, text, "a place such as body.id, item.id, header.X-Id, query.id or sha256");
}

/** Such as `call_1.call_ended`, for events that come once for the object at a place; undefined for those that may repeat. */
export function onceOf(place: string, events: readonly string[]): (from: Readable) => string | undefined {
  const object = compileLocation(place);
  return (from) => {
    const [id, event] = [object.read(from), ownValue(from.body, "event")];
    return typeof id === "string" && events.some((one) => one === event) ? `${id}.${event}` : undefined;
  };
}

function pathName(root: "body" | "item" | "parent", rest: string): string {
  const name = rest.startsWith(".") ? rest.slice(1) : rest;
  if (root === "parent") return name === "" ? "what holds the event" : `${name} of what holds the event`;
  return name === "" ? `the ${root}` : name;
}

/** @throws TypeError for a text that names no place, when the source is created */
export function compileText(places: TextPlace | readonly TextPlace[], signed: IsSignedPlace = bodyAlone): TextLocation {
  const list = (typeof places === "object" ? places : [places]).map((place) => compileOne(place, signed));
  const [only] = list;
  if (only === undefined) throw optionError(undefined, "an empty list", "at least one place");
  if (list.length === 1) return only;
  return {
    name: list.map(({ name }) => name).join(" or "),
    isSigned: list.every(({ isSigned }) => isSigned),
    read: (from) => {
      for (const location of list) {
        const text = location.read(from);
        if ("text" in text || text.fault !== MISSING) return text;
      }
      return { fault: MISSING };
    },
  };
}

function compileOne(place: TextPlace, signed: IsSignedPlace): TextLocation {
  if (typeof place === "function") {
    return { name: "what its preset reads", isSigned: false, read: (from) => locatedText(place(from)) };
  }
  if (place.startsWith("=")) return constant(place.slice(1));
  if (place.includes("{")) return compileTemplate(place, signed);
  const { name, isSigned, read } = compileLocation(place, signed);
  return { name, isSigned, read: (from) => locatedText(read(from)) };
}

function constant(text: string): TextLocation {
  return { name: text, isSigned: true, read: () => ({ text }) };
}

/** Split by braces: the parts at odd places are locations. */
function compileTemplate(template: string, signed: IsSignedPlace): TextLocation {
  const texts = template.split(/[{}]/);
  if (texts.map((text, index) => (index % 2 === 0 ? text : `{${text}}`)).join("") !== template) {
    throw wrongOption(undefined, template, "a template such as {body.type}.{body.action}");
  }
  const parts = texts.map((text, index) => (index % 2 === 0 ? constant(text) : compileOne(text, signed)));
  const locations = parts.filter((_, index) => index % 2 === 1);
  return {
    name: locations.map(({ name }) => name).join(" and "),
    isSigned: locations.every(({ isSigned }) => isSigned),
    read: (from) => {
      let text = "";
      for (const part of parts) {
        const partText = part.read(from);
        if ("fault" in partText) return partText;
        text += partText.text;
      }
      return { text };
    },
  };
}

/** An integer that a JavaScript number cannot hold is a text of its digits already. An empty text names nothing. */
function locatedText(value: JsonValue | undefined): LocatedText {
  if (value === undefined || value === null || value === "") return { fault: MISSING };
  if (typeof value === "string") return { text: value };
  if (Array.isArray(value)) return { fault: `stands more than once; ${EXPECTED}` };
  return Number.isSafeInteger(value) ? { text: String(value) } : { fault: EXPECTED };
}

/** A text that both databases keep as it is: an event's id, or its type. */
export function readKept(location: TextLocation, from: Readable): LocatedText {
  const text = location.read(from);
  if ("fault" in text) return text;
  const fault = idFault(text.text);
  return fault === undefined ? text : { fault };
}
