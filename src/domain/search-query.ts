import { type CallbackFilter, lowerAscii } from "./callback-log.ts";
import { indexedValue } from "./callback-values.ts";
import { closestOption } from "./closest-name.ts";
import { queryWords } from "./query-words.ts";
import { COLUMN_FILTERS, FILTER_NAMES, type FilterName, SearchQueryError } from "./search-filters.ts";

/** A value that a callback must have. */
export interface SearchTerm {
  /** With the letters A to Z in lower case, as every comparison is. */
  readonly value: string;
  /** The only place where it counts: a column, or the end of a path in the body. Any place where it is left out. */
  readonly place?: { readonly column: "event_id" | "request_id" } | { readonly path: string };
  /** `value`: the whole value. `beginning`: how it begins. `any`: also how it begins, or a part of the body. */
  readonly match: "value" | "beginning" | "any";
}

export interface SearchQuery {
  readonly filter: CallbackFilter;
  /** All of them must be found. */
  readonly terms: readonly SearchTerm[];
}

const MAX_TERMS = 8;

/**
 * Reads what an operator types: words, and filters such as `source:stripe outcome:failed since:3d data.object.customer:cus_1`.
 * Quotes hold spaces and colons together. A filter that is given twice counts as it was given last.
 * @throws SearchQueryError
 */
export function parseSearchQuery(text: string, now: Date): SearchQuery {
  let filter: CallbackFilter = {};
  const terms: SearchTerm[] = [];
  for (const { name, value } of queryWords(text)) {
    if (name !== undefined && isColumnFilter(name)) filter = { ...filter, ...COLUMN_FILTERS[name](value, now) };
    else if (name !== undefined) terms.push(termOf(name, lowerAscii(value)));
    else if (value.trim() !== "") terms.push({ value: lowerAscii(value), match: "any" });
  }
  if (terms.length > MAX_TERMS)
    throw new SearchQueryError(`q: got ${terms.length} values, expected at most ${MAX_TERMS}`);
  return { filter, terms };
}

function termOf(name: string, value: string): SearchTerm {
  if (name === "id") return { value, place: { column: "event_id" }, match: "value" };
  if (name === "request") return { value, place: { column: "request_id" }, match: "value" };
  assertPath(name);
  const place = { path: name.replace(/^\./, "") };
  return value.length > 1 && value.endsWith("*")
    ? { value: value.slice(0, -1), place, match: "beginning" }
    : { value, place, match: "value" };
}

function isColumnFilter(name: string): name is keyof typeof COLUMN_FILTERS {
  return Object.hasOwn(COLUMN_FILTERS, name);
}

/** A field of the payload may have any name, so only one that is nearly a filter's is an error. */
function assertPath(name: string): void {
  if (name.includes(".")) return;
  const nearest = closestOption(name, FILTER_NAMES) ?? RELATED[name];
  if (nearest === undefined) return;
  const expected = `expected one of ${FILTER_NAMES.join(", ")}, or a path in the payload`;
  throw new SearchQueryError(
    `${name}: there is no such filter, ${expected}; did you mean ${nearest}:? ` +
      `A field of the payload with this name is .${name}:`,
  );
}

/** The names of columns and of other tools' filters. */
const RELATED: Readonly<Record<string, FilterName>> = {
  event_id: "id",
  event_type: "type",
  request_id: "request",
  remote_address: "address",
  ip: "address",
  from: "since",
  after: "since",
  to: "until",
  before: "until",
};

/** Whether the index of values finds it; otherwise the log is read for it. */
export function isIndexed({ value }: SearchTerm): boolean {
  return indexedValue(value) !== undefined;
}
