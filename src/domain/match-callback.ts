import { lowerAscii } from "./callback-log.ts";
import { eachValue, indexedValue, type ValueColumns } from "./callback-values.ts";
import type { SearchTerm } from "./search-query.ts";

export const MATCH_KINDS = ["exact", "prefix", "text"] as const;
export type MatchKind = (typeof MATCH_KINDS)[number];

/** Why a callback was found. */
export interface CallbackMatch {
  readonly kind: MatchKind;
  /** A path in the body, `header x-github-delivery`, `query order`, `url`, `body`, or a column such as `event_id`. */
  readonly where: string;
  /** The whole value as it is written; of a longer text the part around it. */
  readonly value: string;
}

/** Places whose values are no id that a refused callback could claim. */
const NO_CLAIM: ReadonlySet<string> = new Set(["request_id", "remote_address", "url"]);

/** Characters before and after a text that was found. */
const AROUND = 40;
const LONGEST_VALUE = 120;

/**
 * How a callback matches all of these terms, by the one that matches least. Undefined where one of them is not found.
 * The place is that of the first term.
 */
export function matchCallback(row: ValueColumns, terms: readonly SearchTerm[]): CallbackMatch | undefined {
  const best: (CallbackMatch | undefined)[] = terms.map(() => undefined);
  eachValue(row, (value, where, isInBody) => {
    const lower = lowerAscii(value);
    terms.forEach((term, index) => {
      const kind = kindOf(term, lower, isInBody);
      if (kind === undefined || rankOf(kind) >= rankOf(best[index]?.kind)) return;
      const place = where();
      if (isAt(term, place, row))
        best[index] = { kind, where: place, value: excerpt(value, lower.indexOf(term.value)) };
    });
  });
  const matches = terms.map((term, index) => best[index] ?? inWholeBody(term, row));
  const [first] = matches;
  if (first === undefined || matches.includes(undefined)) return undefined;
  const worst = Math.max(...matches.map((match) => rankOf(match?.kind)));
  return { ...first, kind: MATCH_KINDS[worst] ?? first.kind };
}

function rankOf(kind: MatchKind | undefined): number {
  return kind === undefined ? MATCH_KINDS.length : MATCH_KINDS.indexOf(kind);
}

/**
 * Texts count only within the body. The beginning of a value that no index holds counts as a text, wherever it stands. So
 * a row has the same kind before it is indexed.
 */
function kindOf({ value, match }: SearchTerm, found: string, isInBody: boolean): MatchKind | undefined {
  if (found === value) return "exact";
  if (match !== "value" && found.startsWith(value)) return indexedValue(found) === undefined ? "text" : "prefix";
  return match === "any" && isInBody && found.includes(value) ? "text" : undefined;
}

/** A path of the query may leave out its beginning and positions in lists. A refused callback only claims its event's id. */
function isAt({ place }: SearchTerm, where: string, { eventId }: ValueColumns): boolean {
  if (place === undefined) return true;
  if ("column" in place)
    return where === place.column || (place.column === "event_id" && eventId === null && !NO_CLAIM.has(where));
  const wanted = lowerAscii(place.path);
  const found = lowerAscii(where);
  return [found, found.replace(/\.\d+(?=\.|$)/g, "")].some((path) => path === wanted || path.endsWith(`.${wanted}`));
}

/** A text that spans several values, or a key. */
function inWholeBody({ value, match }: SearchTerm, { requestBody }: ValueColumns): CallbackMatch | undefined {
  if (match !== "any") return undefined;
  const at = lowerAscii(requestBody).indexOf(value);
  return at === -1 ? undefined : { kind: "text", where: "body", value: excerpt(requestBody, at) };
}

function excerpt(text: string, at: number): string {
  if (text.length <= LONGEST_VALUE) return text;
  const from = Math.max(0, at - AROUND);
  const part = text.slice(from, from + LONGEST_VALUE).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + LONGEST_VALUE < text.length ? "…" : ""}`;
}
