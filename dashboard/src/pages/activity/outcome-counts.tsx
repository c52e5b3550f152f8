import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type OutcomeCounts as Counts, outcomeCounts, outcomeGroup } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { COUNTED_OUTCOMES, countOfAll, GROUPS } from "../../parts/outcome-groups.ts";
import { type ActivitySearch, isNarrowed, TIME_PRESETS } from "./activity-filters.ts";

const EVERY_MS = 15_000;
const COUNT = new Intl.NumberFormat();

interface Props {
  readonly search: ActivitySearch;
  readonly change: (next: ActivitySearch) => void;
}

/** How callbacks of the chosen time ended; each number is a filter. */
export function OutcomeCounts({ search, change }: Props) {
  const counts = useCounts(search);
  const chosen = groupOf(search.outcome);
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
      {counts !== undefined && <span className="counts-time">{presetOf(search.since)?.label}</span>}
    </fieldset>
  );
}

/** The group that is chosen, or has the chosen outcome: `success` is one of those that were handled. */
function groupOf(outcome: string | undefined): string | undefined {
  if (outcome === undefined || GROUPS.some(({ name }) => name === outcome)) return outcome;
  if (outcome.includes(",")) return undefined;
  // A filter has the name of the group, or an outcome in it.
  const group = outcome === "duplicate" ? outcome : outcomeGroup(outcome);
  return group === "duplicate" ? "duplicates" : group;
}

/** Without a time, counts are of the longest one that the receiver has. */
function presetOf(since = "30d") {
  return TIME_PRESETS.find(({ value }) => value === since);
}

/** The receiver's counts; undefined where it counts only more than these filters select. */
function useCounts(search: ActivitySearch): Counts | undefined {
  const span = presetOf(search.since)?.span;
  const isCounted = span !== undefined && !isNarrowed(search);
  const { data } = useQuery({
    queryKey: ["overview", "counts", span],
    queryFn: async () => outcomeCounts((await api.overview(span)).totals.outcomes),
    enabled: isCounted,
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  });
  return isCounted ? data : undefined;
}
