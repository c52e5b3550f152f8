import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { EventKey, FailureView } from "oncehook/admin-client";
import { slowApi } from "../client.ts";
import { Problem } from "../parts/page-states.tsx";
import { useMayChange } from "../session.ts";
import { ReplayOutcome } from "./failure-action-result.tsx";
import { RunAgain } from "./run-again.tsx";

interface Props {
  readonly failure: FailureView | null;
  /** The event's key where it was handled. */
  readonly handled: EventKey | null;
}

/** The statements of the handler and their rows, by a dry run, which changes nothing. */
export function SqlTab({ failure, handled }: Props) {
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
      {dryRun.data === undefined && (
        <p className="quiet">
          {failure === null && "The event is handled, and the statements of that attempt were not recorded. "}A dry run
          shows what the handler would write. It is rolled back, and changes nothing.
        </p>
      )}
      {mayChange && (
        <Button variant="default" loading={dryRun.isPending} onClick={() => dryRun.mutate(event)}>
          {dryRun.data === undefined ? "Run it dry" : "Run it dry again"}
        </Button>
      )}
      {dryRun.isError && <Problem error={dryRun.error} title="The dry run could not be made" />}
      {dryRun.data !== undefined && <ReplayOutcome replay={dryRun.data} />}
      {dryRun.data !== undefined && failure === null && handled !== null && mayChange && <RunAgain event={handled} />}
    </>
  );
}
