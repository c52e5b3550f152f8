import type { ProblemView } from "oncehook/admin-client";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { Icon } from "../../parts/icon.tsx";
import { FAILURE_STATES, isOfState, KINDS, type ProblemSearch, STATES } from "./problem-filters.ts";
import { COUNT } from "./problem-text.ts";

type ChipName = "source" | "kind" | "event_type" | "code" | "failure_state";

const CHIPS: readonly { readonly name: ChipName; readonly label: string }[] = [
  { name: "source", label: "Source" },
  { name: "kind", label: "Kind" },
  { name: "event_type", label: "Type" },
  { name: "code", label: "Code" },
  { name: "failure_state", label: "Failures" },
];
const STATE_LABELS = { open: "Open", muted: "Muted", resolved: "Resolved" } as const;

interface Props {
  readonly search: ProblemSearch;
  /** Those that match all filters but the state. */
  readonly problems: readonly ProblemView[];
  readonly all: readonly ProblemView[];
  readonly change: (next: ProblemSearch) => void;
}

/** The states with their counts, and a chip for each filter. */
export function ProblemFilters({ search, problems, all, change }: Props) {
  const valuesOf = (name: "source" | "event_type" | "code") =>
    [...new Set(all.map((problem) => problem[name]))].filter((value) => value !== null && value !== "");
  const options: Readonly<Record<ChipName, readonly (string | null)[]>> = {
    source: valuesOf("source"),
    kind: KINDS,
    event_type: valuesOf("event_type"),
    code: valuesOf("code"),
    failure_state: FAILURE_STATES,
  };
  const none = Object.fromEntries(CHIPS.map(({ name }) => [name, undefined]));
  return (
    <>
      <fieldset className="counts" aria-label="States">
        {([undefined, ...STATES] as const).map((state) => (
          <button
            key={state ?? "unresolved"}
            type="button"
            aria-pressed={search.state === state}
            onClick={() => change({ state })}
          >
            {state === undefined ? "Unresolved" : STATE_LABELS[state]}
            <span className="number">
              {COUNT.format(problems.filter((problem) => isOfState(problem, state)).length)}
            </span>
          </button>
        ))}
      </fieldset>
      <div className="filter-bar">
        {CHIPS.map(({ name, label }) => (
          <FilterChip
            key={name}
            label={label}
            value={search[name]}
            options={options[name].filter((value) => value !== null)}
            apply={(value) => change({ [name]: value })}
          />
        ))}
        {CHIPS.some(({ name }) => search[name] !== undefined) && (
          <button type="button" className="chip clear" onClick={() => change(none)}>
            <Icon name="close" size={14} />
            Clear
          </button>
        )}
      </div>
    </>
  );
}
