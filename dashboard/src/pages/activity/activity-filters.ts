import type { CallbackFilters } from "oncehook/admin-client";
import { CALLBACK_FILTERS, type Raw, searchText } from "../../search.ts";

/** The groups of outcomes that the page counts, each with the filters of the API that select it. */
const GROUP_FILTERS = {
  handled: { outcome: "success,accepted" },
  duplicates: { outcome: "already_processed" },
  refused: { status: "4xx", outcome: "!endpoint_check" },
  failed: { status: "5xx" },
} as const satisfies Readonly<Record<string, CallbackFilters>>;

export const TIME_PRESETS = [
  { value: "1h", label: "Last hour", minutes: 60, span: "hour" },
  { value: "24h", label: "Last 24 hours", minutes: 1_440, span: "day" },
  { value: "7d", label: "Last 7 days", minutes: 10_080, span: undefined },
  { value: "30d", label: "Last 30 days", minutes: 43_200, span: "month" },
] as const;

/** The query of the page: filters of the API, a time preset, and the open callback. */
export type ActivitySearch = { readonly [Name in (typeof NAMES)[number]]?: string | undefined };

const NAMES = [...CALLBACK_FILTERS, "since", "open"] as const;

export function activitySearch(raw: Raw): ActivitySearch {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const text = searchText(raw[name]);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

/** The filters of a request. @param now the moment from which a preset counts back */
export function apiFilters(search: ActivitySearch, now: number): CallbackFilters {
  const { since, open: _open, outcome, ...filters } = search;
  const preset = TIME_PRESETS.find(({ value }) => value === since);
  const group = isGroup(outcome) ? GROUP_FILTERS[outcome] : outcome === undefined ? {} : { outcome };
  const from = preset === undefined ? filters.from : new Date(now - preset.minutes * 60_000).toISOString();
  return { ...filters, ...group, ...(from === undefined ? {} : { from }) };
}

function isGroup(outcome: string | undefined): outcome is keyof typeof GROUP_FILTERS {
  return outcome !== undefined && outcome in GROUP_FILTERS;
}

/** Whether the list is narrowed by anything but a time preset and a group of outcomes. */
export function isNarrowed({ open: _open, since: _since, outcome, ...others }: ActivitySearch): boolean {
  const isOtherOutcome = outcome !== undefined && !isGroup(outcome) && outcome !== "ignored";
  return isOtherOutcome || Object.values(others).some((value) => value !== undefined);
}
