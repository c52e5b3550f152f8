import { Button } from "@mantine/core";
import type { ProblemView } from "oncehook/admin-client";
import { memo } from "react";
import { Cell, ListRow, type RowPlace } from "../../parts/row-list.tsx";
import { Sparkline } from "../../parts/sparkline.tsx";
import { Time } from "../../parts/time.tsx";
import { MuteProblem } from "./mute-problem.tsx";
import { countText, problemCause, problemOutcome } from "./problem-text.ts";

export const PROBLEM_HEADS = [
  "Outcome",
  "What and why",
  "Source",
  "Count",
  "First seen",
  "Last seen",
  "24 hours",
  "State",
  "Actions",
];

interface Props extends RowPlace {
  readonly problem: ProblemView;
  readonly isOpen: boolean;
  readonly mayChange: boolean;
  readonly open: (problem: ProblemView) => void;
}

/** One cause in one line. */
export const ProblemRow = memo(function ProblemRow({ problem, index, top, isOpen, mayChange, open }: Props) {
  const { id, kind, source, state, hourly, since, first_seen, last_seen } = problem;
  const { label, tone } = problemOutcome(problem);
  const { what, why } = problemCause(problem);
  return (
    <ListRow id={id} index={index} top={top} className="problem-row" isOpen={isOpen}>
      <Cell name="outcome">
        <span className="outcome" data-tone={state === "resolved" ? "quiet" : tone}>
          {label}
        </span>
      </Cell>
      <Cell name="what">
        {what} <span className="quiet">{why}</span>
      </Cell>
      <Cell name="source">{source}</Cell>
      <Cell name="count">{state === "resolved" ? "–" : countText(problem)}</Cell>
      <Cell name="first">
        <Time at={kind === "refusal" ? since : first_seen} isShort />
      </Cell>
      <Cell name="last">
        <Time at={last_seen} isShort />
      </Cell>
      <Cell name="hours">
        <Sparkline hourly={hourly} tone={tone} />
      </Cell>
      <Cell name="state">
        <StateText problem={problem} />
      </Cell>
      <Cell name="actions">
        {mayChange && state !== "resolved" && (
          <>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => open(problem)}
              aria-label={`${STEPS[kind]}: ${what} of ${source}`}
            >
              {STEPS[kind]}
            </Button>
            <MuteProblem problem={problem} isIcon />
          </>
        )}
      </Cell>
    </ListRow>
  );
});

/** The next step; each begins in the panel, where its effect is said. */
const STEPS = { failure: "Dry run", refusal: "Remedy", delivery: "Deliver" } as const;

export function StateText({ problem }: { readonly problem: ProblemView }) {
  const { state, reopened, resolved_at, muted_until, muted_by } = problem;
  if (state === "muted") return <span title={`Until ${muted_until}`}>Muted by {muted_by}</span>;
  if (state === "resolved")
    return (
      <span className="outcome" data-tone="success" title={resolved_at ?? undefined}>
        Resolved
      </span>
    );
  return reopened > 0 ? <span title={`It came again ${reopened} times`}>Reopened</span> : "Open";
}
