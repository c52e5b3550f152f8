import { useQuery } from "@tanstack/react-query";
import { type OutcomeCounts as Counts, outcomeCounts, outcomeGroup } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { COUNTED_OUTCOMES, countOfAll, GROUPS, groupOf } from "../../parts/outcome-groups.ts";
import { useTimeZone } from "../../parts/time-zone.tsx";
import { type ActivitySearch, isNarrowed, TIME_PRESETS } from "./activity-filters.ts";
import { timeLabel } from "./time-chip.tsx";

const EVERY_MS = 15_000;
const COUNT = new Intl.NumberFormat();

interface Props {
  readonly search: ActivitySearch;
  readonly change: (next: ActivitySearch) => void;
  /** The rows of the list so far. */
  readonly shown: number;
  readonly hasMore: boolean;
}

/** How callbacks of the chosen source and time ended; each number is a filter. Of others, how many are shown. */
export function OutcomeCounts({ search, change, shown, hasMore }: Props) {
  const counts = useCounts(search);
  const time = timeLabel(search, useTimeZone());
  const chosen = chosenGroup(search.outcome);
  const choose = (outcome: string | undefined) => change({ outcome, status: undefined });
  const isAll = (search.outcome ?? COUNTED_OUTCOMES) === COUNTED_OUTCOMES && search.status === undefined;
  return (
    <fieldset className="counts" aria-label="Outcomes">
      <button
        type="button"
        aria-pressed={isAll}
        title="Endpoint checks and handshakes are listed, and not counted"
        onClick={() => choose(undefined)}
      >
        All
        {counts !== undefined && <span className="number">{COUNT.format(countOfAll(counts))}</span>}
      </button>
      {GROUPS.map(({ name, label, tone }) => (
        <button
          key={name}
          type="button"
          aria-pressed={chosen === name}
          onClick={() => choose(search.outcome === name ? undefined : name)}
        >
          <span className="outcome" data-tone={tone}>
            {label}
          </span>
          {counts !== undefined && <span className="number">{COUNT.format(counts[name])}</span>}
        </button>
      ))}
      <span className="counts-time">
        {isCounted(search) ? presetOf(search.since)?.label : `${resultsText(shown, hasMore)}, ${time ?? "whole log"}`}
      </span>
    </fieldset>
  );
}

function resultsText(shown: number, hasMore: boolean): string {
  const results = shown === 1 ? "1 result" : `${COUNT.format(shown)} results`;
  return hasMore ? `${results} so far` : results;
}

/** The group that is chosen, or has the chosen outcome: `success` is one of those that were handled. */
function chosenGroup(outcome: string | undefined): string | undefined {
  if (outcome === undefined || GROUPS.some(({ name }) => name === outcome)) return outcome;
  if (outcome.includes(",")) return undefined;
  // A filter has the name of the group, or an outcome in it.
  const group = outcome === "duplicate" ? outcome : outcomeGroup(outcome);
  return group && groupOf(group);
}

/** Without a time, counts are of the longest one that the receiver has. */
function presetOf(since = "30d") {
  return TIME_PRESETS.find(({ value }) => value === since);
}

/** False where the receiver counts only more than these filters select. */
function isCounted(search: ActivitySearch): boolean {
  return presetOf(search.since)?.span !== undefined && !isNarrowed(search);
}

/** Undefined until they are read, and where there are none. */
function useCounts(search: ActivitySearch): Counts | undefined {
  const { source } = search;
  const span = presetOf(search.since)?.span;
  const { data } = useQuery({
    queryKey: ["overview", "counts", span, source],
    queryFn: async () => outcomeCounts((await api.overview(span, source)).totals.outcomes),
    enabled: isCounted(search),
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: false,
    // Numbers of another source would be wrong ones.
    placeholderData: (before, query) => (query?.queryKey[3] === source ? before : undefined),
  });
  return isCounted(search) ? data : undefined;
}
