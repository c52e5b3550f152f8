import { Button } from "@mantine/core";
import type { ProblemView } from "oncehook/admin-client";
import { memo } from "react";
import { CutText } from "../../parts/cut-text.tsx";
import { capitalised } from "../../parts/outcome.ts";
import { problemCause, shortReason } from "../../parts/problem-cause.ts";
import { PROBLEM_STEPS, sourceOrChannel } from "../../parts/problem-steps.ts";
import { Cell, ListRow, type RowPlace, useIsWide } from "../../parts/row-list.tsx";
import { Sparkline } from "../../parts/sparkline.tsx";
import { Age } from "../../parts/time.tsx";
import { actorName } from "../../session.ts";
import { MuteProblem } from "./mute-problem.tsx";
import { countText, problemOutcome } from "./problem-text.ts";

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

/** On a telephone: a line of figures, and two of the cause. */
export const PROBLEM_HEIGHT = 60;

interface Props extends RowPlace {
  readonly problem: ProblemView;
  readonly isOpen: boolean;
  readonly mayChange: boolean;
  readonly open: (problem: ProblemView) => void;
}

/** One cause in one line. */
export const ProblemRow = memo(function ProblemRow({ problem, index, top, isOpen, mayChange, open }: Props) {
  const { id, kind, state, hourly, first_seen, last_seen } = problem;
  const isWide = useIsWide();
  const { label, tone } = problemOutcome(problem);
  const { what, why } = problemCause(problem);
  const place = sourceOrChannel(problem);
  const isPlain = state === "open" && problem.reopened === 0;
  return (
    <ListRow id={id} index={index} top={top} className={`problem-row ${isPlain ? "plain" : state}`} isOpen={isOpen}>
      <Cell name="outcome">
        <span className="outcome" data-tone={state === "open" ? tone : "quiet"}>
          {capitalised(label)}
        </span>
      </Cell>
      <Cell name="what" title={`${what}: ${why}`}>
        <span>{what}</span> <span className="quiet">{isWide ? <CutText text={shortReason(why)} /> : why}</span>
      </Cell>
      <Cell name="source" title={place}>
        {isWide ? place : problem.source}
      </Cell>
      <Cell name="count">{state === "resolved" ? "–" : countText(problem)}</Cell>
      <Cell name="first">
        <Age at={first_seen} isBare={!isWide} />
      </Cell>
      <Cell name="last">
        <Age at={last_seen} />
      </Cell>
      <Cell name="hours">
        <Sparkline hourly={hourly} tone={tone} />
      </Cell>
      <Cell name="state">
        <StateText problem={problem} isWide={isWide} />
      </Cell>
      <Cell name="actions">
        {mayChange && state !== "resolved" && (
          <>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => open(problem)}
              aria-label={`${PROBLEM_STEPS[kind]}: ${what} of ${place}`}
            >
              {PROBLEM_STEPS[kind]}
            </Button>
            <MuteProblem problem={problem} isIcon />
          </>
        )}
      </Cell>
    </ListRow>
  );
});

interface StateProps {
  readonly problem: ProblemView;
  readonly isWide: boolean;
}

function StateText({ problem, isWide }: StateProps) {
  const { state, reopened, resolved_at, muted_until, muted_by } = problem;
  if (state === "muted")
    return (
      <span title={`By ${actorName(muted_by)}, until ${muted_until}`}>
        Muted{isWide && ` by ${actorName(muted_by)}`}
      </span>
    );
  if (state === "resolved")
    return (
      <span className="outcome" data-tone="success" title={resolved_at ?? undefined}>
        Resolved
      </span>
    );
  return reopened > 0 ? <span title={`It came again ${reopened} times`}>Reopened</span> : "Open";
}
