/** A bare item of RFC 9651 §3.3. Decimals, dates and display strings are of no use here, and refused. */
export type BareItem =
  | { readonly type: "string" | "token"; readonly value: string }
  | { readonly type: "integer"; readonly value: number }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "bytes"; readonly value: Buffer };

type Parameters = ReadonlyMap<string, BareItem>;
type Item = { readonly item: BareItem; readonly parameters: Parameters };
export type InnerList = { readonly items: readonly Item[]; readonly parameters: Parameters };
type Dictionary = ReadonlyMap<string, Item | InnerList>;

const MAX_LENGTH = 8_192;
const MAX_MEMBERS = 64;

/**
 * A dictionary of structured fields (RFC 9651 §4.2.2), its header's values joined. In one respect it is stricter: a
 * name that stands twice is refused. Readers that take the first and those that take the last see different ones.
 * @returns undefined where the text is none
 */
export function parseDictionary(values: readonly string[]): Dictionary | undefined {
  const text = values.join(", ");
  if (text.length > MAX_LENGTH) return undefined;
  try {
    return new Reader(text).dictionary();
  } catch (error) {
    if (error instanceof NotStructured) return undefined;
    throw error;
  }
}

class NotStructured extends Error {}

/** The value of a name without one. */
const TRUE: BareItem = { type: "boolean", value: true };

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const STRING = /"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"/y;
const BYTES = /:([A-Za-z0-9+/]*={0,2}):/y;
const BOOLEAN = /\?([01])/y;
const SPACES = / */y;
const WHITE = /[ \t]*/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  dictionary(): Dictionary {
    const members = new Map<string, Item | InnerList>();
    this.#take(SPACES);
    while (this.#at < this.#text.length) {
      const name = this.#demand(KEY);
      if (members.has(name) || members.size === MAX_MEMBERS) throw new NotStructured();
      members.set(name, this.#skip("=") ? this.#member() : { item: TRUE, parameters: this.#parameters() });
      this.#take(WHITE);
      if (this.#at === this.#text.length) return members;
      if (!this.#skip(",")) throw new NotStructured();
      this.#take(WHITE);
      if (this.#at === this.#text.length) throw new NotStructured();
    }
    return members;
  }

  #member(): Item | InnerList {
    if (!this.#skip("(")) return this.#item();
    const items: Item[] = [];
    this.#take(SPACES);
    while (!this.#skip(")")) {
      if (items.length === MAX_MEMBERS) throw new NotStructured();
      items.push(this.#item());
      if (this.#take(SPACES) === "" && this.#text[this.#at] !== ")") throw new NotStructured();
    }
    return { items, parameters: this.#parameters() };
  }

  #item(): Item {
    return { item: this.#bareItem(), parameters: this.#parameters() };
  }

  #parameters(): Parameters {
    const parameters = new Map<string, BareItem>();
    while (this.#skip(";")) {
      this.#take(SPACES);
      const name = this.#demand(KEY);
      if (parameters.has(name)) throw new NotStructured();
      parameters.set(name, this.#skip("=") ? this.#bareItem() : TRUE);
    }
    return parameters;
  }

  #bareItem(): BareItem {
    const first = this.#text[this.#at] ?? "";
    if (first === '"') {
      const quoted = this.#demand(STRING).slice(1, -1);
      return { type: "string", value: quoted.replace(/\\(["\\])/g, "$1") };
    }
    if (first === ":") return this.#bytes();
    if (first === "?") return { type: "boolean", value: this.#demand(BOOLEAN) === "?1" };
    if (/[-\d]/.test(first)) return { type: "integer", value: Number(this.#demand(INTEGER)) };
    return { type: "token", value: this.#demand(TOKEN) };
  }

  /** Bytes have one encoding here, as anywhere. */
  #bytes(): BareItem {
    const encoded = this.#demand(BYTES).slice(1, -1);
    const value = Buffer.from(encoded, "base64");
    if (value.toString("base64") !== encoded) throw new NotStructured();
    return { type: "bytes", value };
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #demand(pattern: RegExp): string {
    const match = this.#take(pattern);
    if (match === "") throw new NotStructured();
    return match;
  }
}

/** RFC 9651 §4.1: the one text of a value. */
export function serializeInnerList({ items, parameters }: InnerList): string {
  const inner = items.map(
    ({ item, parameters: itemParameters }) => serializeItem(item) + serializeParameters(itemParameters),
  );
  return `(${inner.join(" ")})${serializeParameters(parameters)}`;
}

function serializeParameters(parameters: Parameters): string {
  return [...parameters]
    .map(([name, item]) => (item.type === "boolean" && item.value ? `;${name}` : `;${name}=${serializeItem(item)}`))
    .join("");
}

function serializeItem(item: BareItem): string {
  if (item.type === "string") return `"${item.value.replace(/["\\]/g, "\\$&")}"`;
  if (item.type === "bytes") return `:${item.value.toString("base64")}:`;
  if (item.type === "boolean") return item.value ? "?1" : "?0";
  return String(item.value);
}
