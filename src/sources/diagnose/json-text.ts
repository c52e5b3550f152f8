import type { WorkBudget } from "./work-budget.ts";

/** A JSON text as it was written: numbers and strings keep their spelling, which a parser would lose. */
export type JsonNode =
  | { readonly kind: "string"; readonly raw: string }
  | { readonly kind: "number"; readonly raw: string }
  | { readonly kind: "word"; readonly raw: string }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [key: string, value: JsonNode])[] };

export interface ReadJson {
  readonly root: JsonNode;
  /** The keys and strings that another writer may spell otherwise, with their quotes. */
  readonly strings: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  /** Where the first numbers begin and end. */
  readonly places: readonly TextRange[];
  /** Where the objects and arrays lie that are values of the outermost object. */
  readonly values: readonly TextRange[];
}

type TextRange = readonly [begin: number, end: number];

/** How a text fails to be JSON: it ends too early, or something in it is wrong. */
export type Broken = "cut_off" | "not_json";

const DEEPEST = 64;
const OPENED = /^\s*[[{]/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
/** What a number or a word may begin with, up to the end of the text. */
const UNFINISHED = /[-+.\w]*$/y;
const SPACE = /[ \t\n\r]+/y;
/** What no writer escapes is spelled alike by all. */
const MAY_BE_ESCAPED = /[^\x20-\x7e]|[\\/<>&+'`]/;
/** What each value costs, beside its characters. */
const EACH = 16;
const LAST_SPACE = 0x20;
const MAX_PLACES = 16;

/** Reads in steps: undefined stands for a pause. */
export function* readJson(text: string, effort: WorkBudget): Generator<undefined, ReadJson | Broken> {
  const reader = new Reader(text, effort);
  try {
    const root = yield* reader.value(0);
    const { strings, numbers, places, values } = reader;
    return reader.isAtEnd() ? { root, strings, numbers, places, values } : "not_json";
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
  readonly strings = new Set<string>();
  readonly numbers = new Set<string>();
  readonly places: TextRange[] = [];
  readonly values: TextRange[] = [];
  readonly #text: string;
  readonly #effort: WorkBudget;
  #at = 0;

  constructor(text: string, effort: WorkBudget) {
    this.#text = text;
    this.#effort = effort;
  }

  /** A recursion that is bounded, as the depth of an event is. */
  *value(depth: number): Generator<undefined, JsonNode> {
    const next = this.#next();
    if (next !== "{" && next !== "[") return this.#scalar(depth, next);
    if (depth > DEEPEST) throw new Unreadable("not_json");
    return next === "{" ? yield* this.#object(depth) : yield* this.#array(depth);
  }

  isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at === this.#text.length;
  }

  *#object(depth: number): Generator<undefined, JsonNode> {
    const members: [string, JsonNode][] = [];
    this.#effort.take(EACH);
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
      const next = this.#next();
      const begin = this.#at;
      const isNested = next === "{" || next === "[";
      const value = isNested ? yield* this.value(depth + 1) : this.#scalar(depth + 1, next);
      if (depth === 0 && isNested) this.values.push([begin, this.#at]);
      members.push([key, value]);
      if (this.#effort.isDue()) yield;
      if (this.#isClosed("}")) return { kind: "object", members };
    }
  }

  *#array(depth: number): Generator<undefined, JsonNode> {
    const items: JsonNode[] = [];
    this.#effort.take(EACH);
    this.#at += 1;
    if (this.#next() === "]") {
      this.#at += 1;
      return { kind: "array", items };
    }
    for (;;) {
      const next = this.#next();
      const isNested = next === "{" || next === "[";
      items.push(isNested ? yield* this.value(depth + 1) : this.#scalar(depth + 1, next));
      if (this.#effort.isDue()) yield;
      if (this.#isClosed("]")) return { kind: "array", items };
    }
  }

  /** Most values are of this kind, and need no generator of their own. */
  #scalar(depth: number, next: string): JsonNode {
    if (depth > DEEPEST) throw new Unreadable("not_json");
    if (next === '"') return { kind: "string", raw: this.#string() };
    const begin = this.#at;
    const number = this.#match(NUMBER);
    if (number !== undefined) {
      this.numbers.add(number);
      if (this.places.length < MAX_PLACES) this.places.push([begin, this.#at]);
      return { kind: "number", raw: number };
    }
    const word = this.#match(WORD);
    if (word !== undefined) return { kind: "word", raw: word };
    throw new Unreadable(this.#match(UNFINISHED) === undefined ? "not_json" : "cut_off");
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
      const raw = this.#text.slice(begin, this.#at);
      this.#effort.take(EACH + raw.length);
      if (MAY_BE_ESCAPED.test(raw)) this.strings.add(raw);
      return raw;
    }
  }

  /** The next character that is no white space. */
  #next(): string {
    this.#skipSpace();
    const next = this.#text[this.#at];
    if (next === undefined) throw new Unreadable("cut_off");
    return next;
  }

  #skipSpace(): void {
    const next = this.#text.charCodeAt(this.#at);
    if (next > LAST_SPACE) return;
    SPACE.lastIndex = this.#at;
    if (SPACE.test(this.#text)) this.#at = SPACE.lastIndex;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return undefined;
    const found = this.#text.slice(this.#at, pattern.lastIndex);
    this.#effort.take(EACH + found.length);
    this.#at += found.length;
    return found;
  }
}

/** A body as a text, with what it costs to look into it. */
export interface BodyText {
  readonly text: string;
  readonly effort: WorkBudget;
  /** Its JSON, which is read once, in steps. */
  read(): Generator<undefined, ReadJson | Broken>;
}

export function bodyTextOf(body: Uint8Array, effort: WorkBudget): BodyText {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
  let read: ReadJson | Broken | undefined;
  return {
    text,
    effort,
    *read() {
      read ??= yield* readJson(text, effort);
      return read;
    },
  };
}
