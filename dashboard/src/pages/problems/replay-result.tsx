import { Progress } from "@mantine/core";
import type { BulkReplayView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import type { Tone } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName } from "../../session.ts";
import { COUNT, WORK_STATES } from "./problem-text.ts";
import { WorkActions } from "./work-actions.tsx";

/** Red where any event failed again, green only where all of them have ended without one. */
export function replayTone({ state, failed }: BulkReplayView): Tone {
  if (failed > 0) return "failed";
  return state === "done" ? "success" : "quiet";
}

export function replayLabel({ scope, state, failed }: BulkReplayView): string {
  if (failed === 0 || state !== "done") return WORK_STATES[state];
  return scope === "events" ? `${failed} failed` : `${failed} failed again`;
}

interface Props {
  readonly replay: BulkReplayView;
  /** Whether it is shown in its problem: with who started it, and with links to its own page. */
  readonly isInProblem?: boolean;
}

/** How far a bulk replay is, or how it ended, in place. */
export function ReplayResult({ replay, isInProblem = false }: Props) {
  const { id, total, done, failed, state, started_at, created_by } = replay;
  const tone = replayTone(replay);
  const percent = total === 0 ? 100 : Math.round((done / total) * 100);
  return (
    <section className="result-line replay-result" data-tone={tone} aria-label="Bulk replay">
      <p role="status">{sentenceOf(replay)}</p>
      <Progress
        value={percent}
        size="sm"
        color={tone === "quiet" ? "accent" : `var(--${tone})`}
        aria-label={`${done} of ${total} done`}
      />
      {isInProblem && (
        <p className="quiet">
          Started <Time at={started_at} relative /> by {actorName(created_by)}.
        </p>
      )}
      {isInProblem && failed > 0 && (
        <p>
          <PageLink to="/problems/replays/$id" params={{ id: String(id) }}>
            View the {failed} that failed again
          </PageLink>
        </p>
      )}
      <WorkActions what="bulk replay" id={id} state={state} api={api.bulkReplays} queryKey="bulk-replays">
        {done} of {total} are done and stay so; the others stay as they are. It cannot be resumed: only a new one
        replays them.
      </WorkActions>
    </section>
  );
}

/** Such as `41 of 41 replayed, none failed again.`; the rest of them were handled. */
function sentenceOf({ scope, total, done, already_handled, failed, skipped, state }: BulkReplayView): string {
  const before = state === "done" ? "" : `${WORK_STATES[state]}: `;
  const parts = [
    `${COUNT.format(done)} of ${COUNT.format(total)} replayed`,
    ...(scope === "events" ? [`${countOf(skipped)} skipped`] : []),
    ...(already_handled > 0 ? [`${COUNT.format(already_handled)} already handled`] : []),
    `${countOf(failed)} failed${scope === "events" ? "" : " again"}`,
  ];
  return `${before}${parts.join(", ")}.`;
}

const countOf = (count: number) => (count === 0 ? "none" : COUNT.format(count));
