import { FILTER_NAMES, type FilterName, lowerAscii, OUTCOME_GROUPS, OUTCOMES } from "../../domain/index.ts";
import type { SuggestionView } from "../callback-schemas.ts";

const MOST = 20;

const MEANINGS: Readonly<Record<FilterName, string>> = {
  source: "of this source",
  outcome: "that ended so",
  type: "of this event type, claimed types of refused callbacks included; * at the end for all that begin so",
  status: "answered with this HTTP status",
  id: "of this event id, claimed ids of refused callbacks included",
  request: "of this request id",
  address: "from this IP address",
  since: "received since then",
  until: "received before then",
};

const GROUP_MEANINGS = {
  handled: "handled, or accepted to be handled",
  duplicate: "deliveries of an event that was handled before",
  ignored: "of a type that the source ignores",
  refused: "answered with 4xx",
  failed: "answered with 5xx",
};

/** `ignored` is a group of its own. */
const SINGLE_OUTCOMES = OUTCOMES.filter((outcome) => !OUTCOME_GROUPS.some((group) => group === outcome));

interface Configured {
  readonly sources: readonly string[];
  /** Of handlers, patterns included. */
  readonly types: readonly string[];
}

/** Completions of the last word of a query. An empty word gets the names of all filters. */
export function suggestionsFor(query: string, configured: Configured): SuggestionView[] {
  const word = query.split(/\s/).at(-1) ?? "";
  const [, name, value = ""] = /^([a-z]+):(.*)$/.exec(word) ?? [];
  const all = name === undefined ? [...filters(), ...valuesOf("source", configured)] : valuesOf(name, configured);
  const begins = ({ text }: SuggestionView) => lowerAscii(text).startsWith(lowerAscii(word));
  const holds = ({ text }: SuggestionView) => value !== "" && lowerAscii(text.slice(text.indexOf(":"))).includes(value);
  const first = all.filter(begins);
  return [...first, ...all.filter((one) => !first.includes(one) && holds(one))].slice(0, MOST);
}

function filters(): readonly SuggestionView[] {
  return FILTER_NAMES.map((name) => ({ text: `${name}:`, kind: "filter", meaning: MEANINGS[name] }));
}

function valuesOf(name: string, { sources, types }: Configured): readonly SuggestionView[] {
  if (name === "source") return sources.map((source) => ({ text: quoted(name, source), kind: "source", meaning: "" }));
  if (name === "type") return types.map((type) => ({ text: quoted(name, type), kind: "type", meaning: "" }));
  if (name === "outcome")
    return [
      ...OUTCOME_GROUPS.map(
        (group) => ({ text: `outcome:${group}`, kind: "outcome", meaning: GROUP_MEANINGS[group] }) as const,
      ),
      ...SINGLE_OUTCOMES.map((outcome) => ({ text: `outcome:${outcome}`, kind: "outcome", meaning: "" }) as const),
    ];
  if (name === "status")
    return ["2xx", "4xx", "5xx", "401", "500", "503"].map((status) => ({
      text: `status:${status}`,
      kind: "status",
      meaning: "",
    }));
  if (name === "since" || name === "until")
    return ["1h", "24h", "3d", "7d", "30d"].map((ago) => ({ text: `${name}:${ago}`, kind: "time", meaning: "ago" }));
  return [];
}

function quoted(name: string, value: string): string {
  return /\s/.test(value) ? `${name}:"${value}"` : `${name}:${value}`;
}
