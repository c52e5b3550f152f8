import { type Encoding, encodingsBy, NUMBERS, STRINGS } from "./encodings.ts";
import type { JsonNode, ReadJson } from "./json-text.ts";
import type { WorkBudget } from "./work-budget.ts";

/** One JSON text in another writing. */
export interface Serialization {
  readonly text: string;
  /** In words that follow "when it is written". */
  readonly how: string;
}

interface Layout {
  readonly how: string;
  readonly item: string;
  readonly colon: string;
  /** Undefined: all on one line. */
  readonly indent?: string;
}

const LAYOUTS: readonly Layout[] = [
  { how: "without spaces", item: ",", colon: ":" },
  { how: "with a space after each colon and comma, as Python does", item: ", ", colon: ": " },
  { how: "with an indent of two spaces", item: ",", colon: ": ", indent: "  " },
  { how: "with an indent of four spaces", item: ",", colon: ": ", indent: "    " },
  { how: "with tabs", item: ",", colon: ": ", indent: "\t" },
  { how: "with a space after each colon", item: ",", colon: ": " },
  { how: "with an indent and a space before each colon", item: ",", colon: " : ", indent: "  " },
];

/** What each value costs, beside its characters. */
const EACH = 16;

/**
 * Other writings of a JSON text, the likeliest first; whatever would be written alike is left out, and so is what would be longer
 * than so many characters. Undefined stands for a pause in the preparations, which take a while for a long text.
 */
export function* serializationsOf(
  { root, strings, numbers }: ReadJson,
  effort: WorkBudget,
  longest: number,
): Generator<Serialization | undefined> {
  const stringsSpelled = encodingsBy(STRINGS, strings, effort);
  const inOrder = yield* sorted(root, effort);
  for (const number of encodingsBy(NUMBERS, numbers, effort)()) {
    if (number === undefined) yield;
    else for (const order of inOrder === root ? [root] : [root, inOrder]) yield* inOrderOf(order, number);
  }

  function* inOrderOf(order: JsonNode, number: Encoding): Generator<Serialization | undefined> {
    const sort = order === root ? "" : "with its keys sorted";
    for (const string of stringsSpelled()) {
      if (string === undefined) yield;
      else yield* inLayouts(order, sort, { string, number });
      if (effort.isSpent) return;
    }
  }

  function* inLayouts(
    order: JsonNode,
    sort: string,
    spelled: Encodings,
  ): Generator<Serialization | undefined> {
    for (const layout of LAYOUTS) {
      const text = yield* new Writer(layout, spelled, longest).write(order, effort);
      if (effort.isSpent) return;
      if (text === undefined) continue;
      const parts = [layout.how, sort, spelled.string.how, spelled.number.how];
      const how = parts.filter((one) => one !== "").join(", ");
      yield { text, how };
      yield { text: `${text}\n`, how: `${how}, with a line break at the end` };
    }
  }
}

interface Encodings {
  readonly string: Encoding;
  readonly number: Encoding;
}

/** An object or array that is being written. */
interface Opened {
  readonly node: Exclude<JsonNode, { readonly raw: string }>;
  readonly size: number;
  next: number;
}

/** Writes each piece once, into one list, however deep it stands. */
class Writer {
  readonly #layout: Layout;
  readonly #spelled: Encodings;
  readonly #longest: number;
  #text = "";
  #pieces: string[] = [];
  readonly #open: Opened[] = [];
  #length = 0;

  constructor(layout: Layout, spelled: Encodings, longest: number) {
    this.#layout = layout;
    this.#spelled = spelled;
    this.#longest = longest;
  }

  /** @returns undefined where it would be too long, or no effort is left */
  *write(root: JsonNode, effort: WorkBudget): Generator<undefined, string | undefined> {
    let written = 0;
    this.#value(root);
    for (;;) {
      effort.take(this.#length - written + EACH);
      written = this.#length;
      if (effort.isSpent || written > this.#longest) return undefined;
      if (effort.isDue()) {
        this.#join();
        yield;
      }
      const opened = this.#open.at(-1);
      if (opened === undefined) return this.#join();
      if (opened.next < opened.size) this.#child(opened);
      else this.#end(opened);
    }
  }

  /** A few at a time: to join very many takes long. */
  #join(): string {
    this.#text += this.#pieces.join("");
    this.#pieces = [];
    return this.#text;
  }

  #put(piece: string): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  #value(node: JsonNode): void {
    if (node.kind === "string") this.#put(this.#spelled.string.of(node.raw));
    else if (node.kind === "number") this.#put(this.#spelled.number.of(node.raw));
    else if (node.kind === "word") this.#put(node.raw);
    else {
      this.#put(node.kind === "array" ? "[" : "{");
      const size = node.kind === "array" ? node.items.length : node.members.length;
      this.#open.push({ node, size, next: 0 });
    }
  }

  #child(opened: Opened): void {
    const { node, next } = opened;
    opened.next += 1;
    if (next > 0) this.#put(this.#layout.item);
    this.#line();
    if (node.kind === "array") {
      const item = node.items[next];
      if (item !== undefined) this.#value(item);
      return;
    }
    const [key, value] = node.members[next] ?? [];
    if (key === undefined || value === undefined) return;
    this.#put(this.#spelled.string.of(key));
    this.#put(this.#layout.colon);
    this.#value(value);
  }

  #end({ node, size }: Opened): void {
    this.#open.pop();
    if (size > 0) this.#line();
    this.#put(node.kind === "array" ? "]" : "}");
  }

  #line(): void {
    const { indent } = this.#layout;
    if (indent !== undefined) this.#put(`\n${indent.repeat(this.#open.length)}`);
  }
}

/** The engine sorts without a pause; an object of more members stays as it is. */
const MAX_MEMBERS = 1_000;
const EACH_NODE = 16;

/** With the members of each object in the order of their keys: the same node, where they are already. */
export function* sorted(node: JsonNode, effort: WorkBudget): Generator<undefined, JsonNode> {
  if ("raw" in node) return node;
  if (node.kind === "array") {
    const items: JsonNode[] = [];
    for (const item of node.items) {
      if (paid(effort)) yield;
      items.push("raw" in item ? item : yield* sorted(item, effort));
    }
    return items.every((item, index) => item === node.items[index]) ? node : { kind: "array", items };
  }
  const members: (readonly [string, JsonNode])[] = [];
  for (const member of node.members) {
    if (paid(effort)) yield;
    const [key, value] = member;
    const inOrder = "raw" in value ? value : yield* sorted(value, effort);
    members.push(inOrder === value ? member : [key, inOrder]);
  }
  if (members.length <= MAX_MEMBERS) members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return members.every((member, index) => member === node.members[index])
    ? node
    : { kind: "object", members };
}

function paid(effort: WorkBudget): boolean {
  effort.take(EACH_NODE);
  return effort.isDue();
}
