import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { FailureView } from "oncehook/admin-client";
import { slowApi } from "../client.ts";
import { Problem } from "../parts/page-states.tsx";
import { useMayChange } from "../session.ts";
import { ReplayOutcome } from "./failure-action-result.tsx";

interface Props {
  readonly failure: FailureView | null;
  readonly isHandled: boolean;
}

/** The statements of the handler and their rows, by a dry run, which changes nothing. */
export function SqlTab({ failure, isHandled }: Props) {
  const mayChange = useMayChange();
  const dryRun = useMutation({
    mutationFn: (of: FailureView) => slowApi.failures.replay(of, { dry_run: true }),
  });
  if (failure === null)
    return (
      <p className="quiet">
        {isHandled
          ? "The event is handled, and the statements of that attempt were not recorded."
          : "No handler ran for this callback."}
      </p>
    );
  return (
    <>
      {dryRun.data === undefined && (
        <p className="quiet">A dry run shows what the handler would write. It is rolled back, and changes nothing.</p>
      )}
      {mayChange && (
        <Button variant="default" loading={dryRun.isPending} onClick={() => dryRun.mutate(failure)}>
          {dryRun.data === undefined ? "Run it dry" : "Run it dry again"}
        </Button>
      )}
      {dryRun.isError && <Problem error={dryRun.error} title="The dry run could not be made" />}
      {dryRun.data !== undefined && <ReplayOutcome replay={dryRun.data} />}
    </>
  );
}
