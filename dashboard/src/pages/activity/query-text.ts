import { queryWords } from "oncehook/admin-client";
import { filterOf, groupOf } from "../../parts/outcome-groups.ts";
import type { ActivitySearch } from "./activity-filters.ts";
import { isDuration, momentOf, quoted } from "./query-values.ts";

/** The filters of the query language that have a chip, by their names in the address. */
const NAMES = {
  source: "source",
  event_type: "type",
  event_id: "id",
  outcome: "outcome",
  status: "status",
  remote_address: "address",
} as const satisfies { readonly [Parameter in keyof ActivitySearch]?: string };

const PARAMETERS: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).map(([parameter, name]) => [name, parameter]),
);

/**
 * A typed query, as the address holds it: `source:stripe since:3d order-123` sets two chips. The other words stay a query.
 * @param now in milliseconds
 */
export function parseQuery(text: string, now: number): ActivitySearch {
  const search: Record<string, string> = {};
  const words: string[] = [];
  for (const { text: word, name, value } of queryWords(text)) {
    const chip = name === undefined || value === "" ? undefined : chipOf(name, value, now);
    if (chip === undefined) words.push(word);
    else Object.assign(search, chip);
  }
  return words.length === 0 ? search : { ...search, q: words.join(" ") };
}

function chipOf(name: string, value: string, now: number): ActivitySearch | undefined {
  if (name === "since") return isDuration(value) ? { since: value } : { from: momentOf(value, now) ?? value };
  if (name === "until") return { to: momentOf(value, now) ?? value };
  const parameter = PARAMETERS.get(name);
  if (parameter === undefined) return undefined;
  return { [parameter]: name === "outcome" ? groupOf(value) : value };
}

/** The whole search as a query, for the search box and for the API; empty where all callbacks are listed. */
export function queryText(search: ActivitySearch): string {
  const words = Object.entries(NAMES).map(([parameter, name]) => {
    const value = search[parameter as keyof typeof NAMES];
    return [name, name === "outcome" && value !== undefined ? filterOf(value) : value] as const;
  });
  const times = [["since", search.since ?? search.from] as const, ["until", search.to] as const];
  const filters = [...words, ...times].flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}:${quoted(value)}`],
  );
  return [...filters, ...(search.q === undefined ? [] : [search.q])].join(" ");
}

/** The texts that a match may have, to be marked in it. */
export function searchedTexts({ q, event_id }: ActivitySearch): readonly string[] {
  const words = queryWords(q ?? "").map(({ name, value }) => (name === undefined ? value : value.replace(/\*$/, "")));
  return [...(event_id === undefined ? [] : [event_id]), ...words].filter((word) => word !== "");
}
