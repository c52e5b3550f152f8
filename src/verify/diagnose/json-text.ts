/** A JSON text as it was written: numbers and strings keep their spelling, which a parser would lose. */
export type JsonNode =
  | { readonly kind: "string"; readonly raw: string }
  | { readonly kind: "number"; readonly raw: string }
  | { readonly kind: "word"; readonly raw: string }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [key: string, value: JsonNode])[] };

export interface ReadJson {
  readonly root: JsonNode;
  /** Where numbers begin and end. */
  readonly numbers: readonly Span[];
  /** Where the objects and arrays lie that are values of the outermost object. */
  readonly values: readonly Span[];
}

type Span = readonly [begin: number, end: number];

/** How a text fails to be JSON: it ends too early, or something in it is wrong. */
export type Broken = "cut_off" | "not_json";

const DEEPEST = 64;
const OPENED = /^\s*[[{]/;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
/** What a number or a word may begin with, up to the end of the text. */
const UNFINISHED = /[-+.\w]*$/y;

export function readJson(text: string): ReadJson | Broken {
  const reader = new Reader(text);
  try {
    const root = reader.value(0);
    const { numbers, values } = reader;
    return reader.isAtEnd() ? { root, numbers, values } : "not_json";
  } catch (error) {
    // A word or a number alone may be anything that is cut off.
    if (error instanceof Unreadable) return OPENED.test(text) ? error.why : "not_json";
    throw error;
  }
}

class Unreadable extends Error {
  readonly why: Broken;

  constructor(why: Broken) {
    super(why);
    this.why = why;
  }
}

class Reader {
  readonly numbers: Span[] = [];
  readonly values: Span[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** A recursion that is bounded, as the depth of an event is. */
  value(depth: number): JsonNode {
    if (depth > DEEPEST) throw new Unreadable("not_json");
    const next = this.#next();
    if (next === "{") return this.#object(depth);
    if (next === "[") return this.#array(depth);
    if (next === '"') return { kind: "string", raw: this.#string() };
    const begin = this.#at;
    const number = this.#match(NUMBER);
    if (number !== undefined) {
      this.numbers.push([begin, this.#at]);
      return { kind: "number", raw: number };
    }
    const word = this.#match(WORD);
    if (word !== undefined) return { kind: "word", raw: word };
    throw new Unreadable(this.#match(UNFINISHED) === undefined ? "not_json" : "cut_off");
  }

  isAtEnd(): boolean {
    this.#match(SPACE);
    return this.#at === this.#text.length;
  }

  #object(depth: number): JsonNode {
    const members: [string, JsonNode][] = [];
    this.#at += 1;
    if (this.#next() === "}") {
      this.#at += 1;
      return { kind: "object", members };
    }
    for (;;) {
      if (this.#next() !== '"') throw new Unreadable("not_json");
      const key = this.#string();
      if (this.#next() !== ":") throw new Unreadable("not_json");
      this.#at += 1;
      this.#next();
      const begin = this.#at;
      const value = this.value(depth + 1);
      if (depth === 0 && "items" in value !== "members" in value) this.values.push([begin, this.#at]);
      members.push([key, value]);
      if (this.#isClosed("}")) return { kind: "object", members };
    }
  }

  #array(depth: number): JsonNode {
    const items: JsonNode[] = [];
    this.#at += 1;
    if (this.#next() === "]") {
      this.#at += 1;
      return { kind: "array", items };
    }
    for (;;) {
      items.push(this.value(depth + 1));
      if (this.#isClosed("]")) return { kind: "array", items };
    }
  }

  /** After a member or an item: its end, or a comma before the next. */
  #isClosed(mark: string): boolean {
    const next = this.#next();
    if (next !== mark && next !== ",") throw new Unreadable("not_json");
    this.#at += 1;
    return next === mark;
  }

  /** With its quotes. */
  #string(): string {
    const begin = this.#at;
    for (let quote = begin; ; ) {
      quote = this.#text.indexOf('"', quote + 1);
      if (quote === -1) throw new Unreadable("cut_off");
      let first = quote;
      while (this.#text[first - 1] === "\\") first -= 1;
      if ((quote - first) % 2 === 1) continue;
      this.#at = quote + 1;
      return this.#text.slice(begin, this.#at);
    }
  }

  /** The next character that is no white space. */
  #next(): string {
    this.#match(SPACE);
    const next = this.#text[this.#at];
    if (next === undefined) throw new Unreadable("cut_off");
    return next;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) return undefined;
    this.#at += found.length;
    return found;
  }
}
