import { Progress } from "@mantine/core";
import type { BackfillView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { elapsedText } from "../../parts/amount.ts";
import { Facts } from "../../parts/facts.tsx";
import type { Tone } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName } from "../../session.ts";
import { BackfillCounts } from "./backfill-counts.tsx";
import { COUNT, WORK_STATES } from "./problem-text.ts";
import { WorkActions } from "./work-actions.tsx";

/** Green only where it gave its handler anything. */
export function backfillTone({ state, accepted }: BackfillView): Tone {
  return state === "done" && accepted > 0 ? "success" : "quiet";
}

interface Props {
  readonly backfill: BackfillView;
}

/** How far a backfill is, or how it ended. How much is left is not known: its history is read as it goes. */
export function BackfillProgress({ backfill }: Props) {
  const { id, state, accepted, already_taken } = backfill;
  return (
    <>
      <section className="result-line replay-result" data-tone={backfillTone(backfill)} aria-label="Backfill">
        <p role="status">
          {WORK_STATES[state]}: {COUNT.format(accepted)} accepted
          {accepted > 0 || already_taken === 0
            ? ". Handlers run them as accepted events."
            : `: its handlers have already run all ${COUNT.format(already_taken)}.`}
        </p>
        {state === "running" && <Progress value={100} size="sm" animated aria-label="Running" />}
        <WorkActions what="backfill" id={id} state={state} api={api.backfills} queryKey="backfills">
          {COUNT.format(accepted)} events are accepted and run all the same. It cannot be resumed; a new one leaves them
          out.
        </WorkActions>
      </section>
      <BackfillCounts counts={backfill} />
      <BackfillFacts backfill={backfill} />
    </>
  );
}

function BackfillFacts({ backfill }: Props) {
  const { handler, since, per_second, started_at, ended_at, created_by, include_former } = backfill;
  return (
    <Facts
      isShort
      of={[
        ["Handler", <code key="handler">{handler}</code>],
        [
          "Callbacks",
          <PageLink
            key="callbacks"
            to="/activity"
            search={{ source: handler.split("#", 1)[0], from: since }}
            underline="hover"
          >
            View in Activity
          </PageLink>,
        ],
        ["Events since", <Time key="since" at={since} />],
        ["Former names", include_former ? "their events, too" : null],
        ["Started by", actorName(created_by)],
        ["Started", <Time key="started" at={started_at} relative />],
        ["Ended", ended_at === null ? null : <Time key="ended" at={ended_at} relative />],
        ["Duration", ended_at === null ? null : elapsedText(Date.parse(ended_at) - Date.parse(started_at))],
        ["Max per second", per_second],
      ]}
    />
  );
}
