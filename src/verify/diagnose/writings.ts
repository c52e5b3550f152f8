import type { JsonNode } from "./json-text.ts";

/** One JSON text in another writing. */
export interface Writing {
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

/** A spelling of strings, or of numbers. */
interface Spelled {
  readonly how: string;
  readonly of: (raw: string) => string;
}

const AS_IT_CAME: Spelled = { how: "", of: (raw) => raw };
const STRINGS: readonly Spelled[] = [
  AS_IT_CAME,
  { how: "with no more escapes than needed", of: plain },
  { how: "with characters beyond ASCII as \\uXXXX", of: ascii },
  { how: "with slashes and characters beyond ASCII escaped, as PHP does", of: (raw) => slashed(ascii(raw)) },
  { how: "with slashes escaped", of: (raw) => slashed(plain(raw)) },
  { how: "with <, > and & escaped, as Go does", of: (raw) => escaped(plain(raw), /[<>&\u2028\u2029]/g) },
  {
    how: "with characters beyond ASCII, quotes and <, >, & and + escaped, as .NET does",
    of: (raw) => `"${escaped(ascii(raw).slice(1, -1).replaceAll('\\"', "\\u0022"), /[<>&+'`]/g, true)}"`,
  },
];
const NUMBERS: readonly Spelled[] = [
  AS_IT_CAME,
  { how: "with numbers as JavaScript writes them", of: (raw) => String(Number(raw)) },
];

/**
 * Other writings of a JSON text, the likeliest first; whatever would be written alike is left out. Undefined stands for a
 * pause in the preparations, which take a while for a long text.
 */
export function* writingsOf(root: JsonNode): Generator<Writing | undefined> {
  const raws = rawsOf(root);
  const strings = yield* distinct(STRINGS, raws.strings);
  const numbers = yield* distinct(NUMBERS, raws.numbers);
  for (const number of numbers) {
    for (const order of isSorted(root) ? [root] : [root, sorted(root)]) {
      for (const string of strings) {
        for (const layout of LAYOUTS) {
          const text = write(order, layout, string.of, number.of);
          const sort = order === root ? "" : "with its keys sorted";
          const how = [layout.how, sort, string.how, number.how].filter((one) => one !== "").join(", ");
          yield { text, how };
          yield { text: `${text}\n`, how: `${how}, with a line break at the end` };
        }
      }
    }
  }
}

/** The spellings that make a difference to any of these. */
function* distinct(
  spellings: readonly Spelled[],
  raws: readonly string[],
): Generator<undefined, readonly Spelled[]> {
  const seen = new Set<string>();
  const found: Spelled[] = [];
  for (const { how, of } of spellings) {
    yield;
    const spelled = new Map(raws.map((raw) => [raw, of(raw)]));
    const all = [...spelled.values()].join("\n");
    if (!seen.has(all)) found.push({ how, of: (raw) => spelled.get(raw) ?? raw });
    seen.add(all);
  }
  return found;
}

function rawsOf(root: JsonNode): { readonly strings: string[]; readonly numbers: string[] } {
  const strings = new Set<string>();
  const numbers = new Set<string>();
  const visit = (node: JsonNode): void => {
    if (node.kind === "string") strings.add(node.raw);
    else if (node.kind === "number") numbers.add(node.raw);
    else if (node.kind === "array") node.items.forEach(visit);
    else if (node.kind === "object") {
      for (const [key, value] of node.members) {
        strings.add(key);
        visit(value);
      }
    }
  };
  visit(root);
  return { strings: [...strings], numbers: [...numbers] };
}

function write(
  root: JsonNode,
  { item, colon, indent }: Layout,
  string: Spelled["of"],
  number: Spelled["of"],
): string {
  const lines = (parts: readonly string[], depth: number, [open, close]: readonly [string, string]) => {
    if (parts.length === 0) return open + close;
    if (indent === undefined) return open + parts.join(item) + close;
    const line = `\n${indent.repeat(depth + 1)}`;
    return `${open}${line}${parts.join(item + line)}\n${indent.repeat(depth)}${close}`;
  };
  const of = (node: JsonNode, depth: number): string => {
    if (node.kind === "string") return string(node.raw);
    if (node.kind === "number") return number(node.raw);
    if (node.kind === "word") return node.raw;
    if (node.kind === "array") {
      const items = node.items.map((one) => of(one, depth + 1));
      return lines(items, depth, ["[", "]"]);
    }
    const members = node.members.map(([key, value]) => string(key) + colon + of(value, depth + 1));
    return lines(members, depth, ["{", "}"]);
  };
  return of(root, 0);
}

function isSorted(node: JsonNode): boolean {
  if (node.kind === "array") return node.items.every(isSorted);
  if (node.kind !== "object") return true;
  return node.members.every(
    ([key, value], index) => (node.members[index - 1]?.[0] ?? "") <= key && isSorted(value),
  );
}

function sorted(node: JsonNode): JsonNode {
  if (node.kind === "array") return { kind: "array", items: node.items.map(sorted) };
  if (node.kind !== "object") return node;
  const members = node.members.map(([key, value]) => [key, sorted(value)] as const);
  return { kind: "object", members: members.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)) };
}

/** As JavaScript and most others write it; a string that is none stays as it came. */
function plain(raw: string): string {
  try {
    return JSON.stringify(JSON.parse(raw));
  } catch {
    return raw;
  }
}

function ascii(raw: string): string {
  return escaped(plain(raw), /[^\x20-\x7e]/g);
}

function slashed(raw: string): string {
  return raw.replaceAll("/", "\\/");
}

function escaped(raw: string, characters: RegExp, isUpper = false): string {
  return raw.replace(characters, (character) => {
    const digits = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${isUpper ? digits.toUpperCase() : digits}`;
  });
}
