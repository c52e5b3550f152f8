import type { ProblemView } from "oncehook/admin-client";
import { FAILURE_TITLES } from "../../parts/failure-titles.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { Icon } from "../../parts/icon.tsx";
import { outcomeTitle } from "../../parts/outcome.ts";
import { FAILURE_STATES, isOfState, KINDS, type ProblemSearch, STATES } from "./problem-filters.ts";
import { COUNT } from "./problem-text.ts";

type ChipName = "source" | "kind" | "event_type" | "code" | "failure_state";

interface ChipOf {
  readonly name: ChipName;
  readonly label: string;
  readonly labelOf?: (value: string) => string;
}

const KIND_LABELS: Readonly<Record<string, string>> = {
  failure: "Failed or rejected",
  refusal: "Refused",
  delivery: "Not delivered",
};
const STATES_OF_FAILURES: Readonly<Record<string, string>> = FAILURE_TITLES;
const CHIPS: readonly ChipOf[] = [
  { name: "source", label: "Source" },
  { name: "kind", label: "Outcome", labelOf: (kind) => KIND_LABELS[kind] ?? kind },
  { name: "event_type", label: "Type" },
  { name: "code", label: "Code", labelOf: outcomeTitle },
  { name: "failure_state", label: "Failure state", labelOf: (state) => STATES_OF_FAILURES[state] ?? state },
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
        {CHIPS.map(({ name, label, labelOf }) => (
          <FilterChip
            key={name}
            label={label}
            labelOf={labelOf}
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
