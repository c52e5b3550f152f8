import { useQuery } from "@tanstack/react-query";
import { api } from "../../client.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { Icon } from "../../parts/icon.tsx";
import { outcomeTitle } from "../../parts/outcome.ts";
import { COUNTED_OUTCOMES } from "../../parts/outcome-groups.ts";
import type { ActivitySearch } from "./activity-filters.ts";
import { TimeChip } from "./time-chip.tsx";

const STATUSES = ["2xx", "4xx", "5xx", "200", "400", "401", "404", "413", "429", "500", "503"];
const OUTCOMES = [
  "handled",
  "duplicates",
  "ignored",
  "refused",
  "failed",
  "accepted",
  "accepted_failed",
  "accepted_rejected",
  "handshake",
  "rejected",
  "event_invalid",
  "event_type_unknown",
  "signature_mismatch",
  "signature_missing",
  "timestamp_stale",
  "endpoint_check",
  "handler_failed",
  "handler_timed_out",
  "store_unavailable",
  "overloaded",
];

type FilterName = "source" | "event_type" | "outcome" | "status" | "remote_address" | "event_id" | "q";

const CHIPS: readonly { readonly name: FilterName; readonly label: string }[] = [
  { name: "source", label: "Source" },
  { name: "event_type", label: "Type" },
  { name: "outcome", label: "Outcome" },
  { name: "status", label: "Status" },
  { name: "remote_address", label: "IP address" },
  { name: "event_id", label: "Event id" },
  { name: "q", label: "Value" },
];

function labelOf(outcome: string): string {
  return outcome === COUNTED_OUTCOMES ? "All that are counted" : outcomeTitle(outcome);
}

interface Props {
  readonly search: ActivitySearch;
  readonly change: (next: ActivitySearch) => void;
}

/** The filters of the list, a chip each: set ones show their value, and each completes from what is configured. */
export function FilterBar({ search, change }: Props) {
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const sources = data?.items ?? [];
  const ofSource = sources.filter(({ source }) => search.source === undefined || source === search.source);
  const options: Partial<Record<FilterName, readonly string[]>> = {
    source: sources.map(({ source }) => source),
    event_type: [...new Set(ofSource.flatMap(({ event_types }) => event_types))],
    outcome: OUTCOMES,
    status: STATUSES,
  };
  const names = [...CHIPS.map(({ name }) => name), "since", "from", "to"] as const;
  const isSet = names.some((name) => search[name] !== undefined);
  return (
    <div className="filter-bar">
      <TimeChip search={search} change={change} />
      {CHIPS.map(({ name, label }) => (
        <FilterChip
          key={name}
          label={label}
          value={search[name]}
          options={options[name] ?? []}
          labelOf={name === "outcome" ? labelOf : undefined}
          apply={(value) => change({ [name]: value })}
        />
      ))}
      {isSet && (
        <button
          type="button"
          className="chip clear"
          onClick={() => change(Object.fromEntries(names.map((name) => [name, undefined])))}
        >
          <Icon name="close" size={14} />
          Clear
        </button>
      )}
    </div>
  );
}
