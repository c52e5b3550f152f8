import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { EventKey, FailureView } from "oncehook/admin-client";
import { slowApi } from "../client.ts";
import { OutcomeBadge } from "../parts/outcome-badge.tsx";
import { Problem } from "../parts/page-states.tsx";
import { Time } from "../parts/time.tsx";
import { useMayChange } from "../session.ts";
import type { RecordedRun } from "../views.ts";
import { ReplayOutcome, Statements } from "./failure-action-result.tsx";
import { RunAgain } from "./run-again.tsx";

interface Props {
  readonly failure: FailureView | null;
  /** The event's key where it was handled. */
  readonly handled: EventKey | null;
  /** Its latest run, where statements are recorded. */
  readonly run: RecordedRun | undefined;
}

/** The statements of the handler and their rows: of its run, or by a dry run, which changes nothing. */
export function SqlTab({ failure, handled, run }: Props) {
  const mayChange = useMayChange();
  const dryRun = useMutation({
    mutationFn: ({ source, event_id }: EventKey) => {
      const key = { source, event_id };
      return failure === null ? slowApi.events.dryRun(key) : slowApi.failures.replay(key, { dry_run: true });
    },
  });
  const event = failure ?? handled;
  if (event === null) return <p className="quiet">No handler ran for this callback.</p>;
  return (
    <>
      {run !== undefined && dryRun.data === undefined && <Recorded run={run} />}
      {dryRun.data === undefined && (
        <p className="quiet">
          {failure === null &&
            run === undefined &&
            "The event is handled, and the statements of that attempt were not recorded: RECORD_STATEMENTS is off. "}
          A dry run shows what the handler would write. It is rolled back, and changes nothing.
        </p>
      )}
      {mayChange && (
        <Button variant="default" loading={dryRun.isPending} onClick={() => dryRun.mutate(event)}>
          Dry run
        </Button>
      )}
      {dryRun.isError && <Problem error={dryRun.error} title="The dry run could not be made" />}
      {dryRun.data !== undefined && <ReplayOutcome replay={dryRun.data} />}
      {dryRun.data !== undefined && failure === null && handled !== null && mayChange && <RunAgain event={handled} />}
    </>
  );
}

function Recorded({ run }: { readonly run: RecordedRun }) {
  const { outcome, ended_at, statements, statements_omitted, connection_used } = run;
  return (
    <>
      <p className="quiet">
        Recorded <Time at={ended_at} />, <OutcomeBadge outcome={outcome} />
        {outcome !== "success" && ": what it wrote was rolled back"}
      </p>
      <Statements statements={statements} omitted={statements_omitted} />
      {connection_used && <p className="quiet">What it ran through tx.connection is not shown.</p>}
    </>
  );
}
