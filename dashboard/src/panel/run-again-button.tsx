import { Button, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import type { EventKey } from "oncehook/admin-client";
import { slowApi } from "../client.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Loading, Problem } from "../parts/page-states.tsx";
import { useMayChange } from "../session.ts";
import { ReplayOutcome } from "./failure-action-result.tsx";
import { RunAgain } from "./run-again.tsx";

/** Begins with the dry run of a handled event; it runs again from there, with a reason. */
export function RunAgainButton({ event: { source, event_id } }: { readonly event: EventKey }) {
  const [isOpen, dialog] = useDisclosure();
  const trial = useMutation({ mutationFn: () => slowApi.events.dryRun({ source, event_id }) });
  if (!useMayChange()) return null;
  const open = () => {
    trial.mutate();
    dialog.open();
  };
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={open}>
        Run again…
      </Button>
      <Dialog isOpen={isOpen} close={dialog.close} title="Dry run" id={event_id} size="xl">
        {trial.isPending && <Loading what="the dry run" />}
        {trial.isError && <Problem error={trial.error} title="The dry run could not be made" />}
        {trial.data !== undefined && (
          <Stack>
            <ReplayOutcome replay={trial.data} />
            <RunAgain event={{ source, event_id }} />
          </Stack>
        )}
      </Dialog>
    </>
  );
}
