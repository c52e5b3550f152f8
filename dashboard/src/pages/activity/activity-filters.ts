import type { CallbackFilters } from "oncehook/admin-client";
import { filterOf } from "../../parts/outcome-groups.ts";
import { CALLBACK_FILTERS, type Raw, searchText } from "../../search.ts";
import { momentOf, quotedWord } from "./query-values.ts";

export const TIME_PRESETS = [
  { value: "1h", label: "Last hour", span: "hour" },
  { value: "24h", label: "Last 24 hours", span: "day" },
  { value: "7d", label: "Last 7 days", span: undefined },
  { value: "30d", label: "Last 30 days", span: "month" },
] as const;

/** The query of the page: filters, a time that counts back from now, searched values, and the open callback. */
export type ActivitySearch = { readonly [Name in (typeof NAMES)[number]]?: string | undefined };

const NAMES = [...CALLBACK_FILTERS, "since", "q", "open"] as const;

export function activitySearch(raw: Raw): ActivitySearch {
  const text = searchText(raw.text);
  // Links of earlier versions name a text of the body so.
  const query = text === undefined ? raw : { q: quotedWord(text), ...raw };
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = searchText(query[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * The filters of a list, a file and the live stream. Undefined where only a search has them: values, and beginnings of types.
 * @param now from which a time counts back, in milliseconds
 */
export function apiFilters(search: ActivitySearch, now: number): CallbackFilters | undefined {
  const { since, open: _open, q, outcome, ...filters } = search;
  if (q !== undefined || filters.event_type?.endsWith("*") === true) return undefined;
  const from = since === undefined ? filters.from : (momentOf(since, now) ?? since);
  return {
    ...filters,
    ...(outcome === undefined ? {} : { outcome: filterOf(outcome) }),
    ...(from === undefined ? {} : { from }),
  };
}

/** Whether the list is narrowed by anything but a source, a time preset and outcomes. */
export function isNarrowed({
  open: _open,
  source: _source,
  since: _since,
  outcome: _outcome,
  ...others
}: ActivitySearch): boolean {
  return Object.values(others).some((value) => value !== undefined);
}
