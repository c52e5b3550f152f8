import { Progress } from "@mantine/core";
import type { BackfillView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import type { Tone } from "../../parts/outcome.ts";
import { Time } from "../../parts/time.tsx";
import { actorName } from "../../session.ts";
import { BackfillCounts } from "./backfill-counts.tsx";
import { COUNT } from "./problem-text.ts";
import { WorkActions } from "./work-actions.tsx";

export function backfillTone({ state }: BackfillView): Tone {
  return state === "done" ? "success" : "quiet";
}

export const backfillLabel = ({ state }: BackfillView): string => state;

const WORDS = { running: "Running", paused: "Paused", cancelled: "Cancelled", done: "Done" } as const;

/** How far a backfill is, or how it ended. How much is left is not known: its history is read as it goes. */
export function BackfillProgress({ backfill }: { readonly backfill: BackfillView }) {
  const { id, state, accepted, since, per_second, started_at, created_by, include_former } = backfill;
  return (
    <section className="result-line replay-result" data-tone={backfillTone(backfill)} aria-label="Backfill">
      <p role="status">
        {WORDS[state]}: {COUNT.format(accepted)} accepted. Handlers run them as accepted events.
      </p>
      {state === "running" && <Progress value={100} size="sm" animated aria-label="Running" />}
      <BackfillCounts counts={backfill} />
      <p className="quiet">
        Events since <Time at={since} />, at most {per_second} a second
        {include_former ? ", those of a former name too" : ""}. Started <Time at={started_at} relative /> by{" "}
        {actorName(created_by)}.
      </p>
      <WorkActions what="backfill" id={id} state={state} api={api.backfills} queryKey="backfills">
        {COUNT.format(accepted)} events are accepted and run all the same. It cannot be resumed; a new one leaves them
        out.
      </WorkActions>
    </section>
  );
}
