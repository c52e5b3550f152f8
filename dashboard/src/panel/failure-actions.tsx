import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { FailureView } from "oncehook/admin-client";
import { api, isStatus } from "../client.ts";
import { DiscardButton } from "../parts/discard-button.tsx";
import { Problem } from "../parts/page-states.tsx";
import { useMayChange } from "../session.ts";
import { type FailureActionHandlers, useFailureRefresh, useReplay } from "./use-replay.ts";

interface Props extends FailureActionHandlers {
  readonly failure: FailureView;
}

/** The buttons of a failed event, for operators. */
export function FailureActions({ failure, onDone, onReplay }: Props) {
  const replay = useReplay(failure, { onDone, onReplay });
  const refresh = useFailureRefresh(failure);
  const discard = useMutation({
    mutationFn: () => api.failures.discard(failure),
    onSuccess: () => onDone(`The failure of ${failure.event_id} was discarded.`),
    onError: (error) => {
      if (isStatus(error, 404)) onDone(`${failure.event_id}: ${error.message}.`);
    },
    onSettled: refresh,
  });
  if (!useMayChange()) return null;
  const busy = replay.isPending || discard.isPending;
  const name = failure.event_id;
  return (
    <>
      <Group gap="xs">
        <Button
          size="compact-sm"
          disabled={busy}
          onClick={({ currentTarget }) => replay.mutate({ dry_run: true, button: currentTarget })}
          aria-label={`Dry run: ${name}`}
        >
          Dry run
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={busy}
          onClick={({ currentTarget }) => replay.mutate({ dry_run: false, button: currentTarget })}
          aria-label={`Replay: ${name}`}
        >
          Replay
        </Button>
        <DiscardButton
          name={name}
          question="Discard this failure?"
          action="Discard it"
          isBusy={busy}
          discard={() => discard.mutateAsync().catch(() => {})}
        >
          {name} will not be retried any more, and its body is deleted. It cannot be undone; only the platform can send
          the event again.
        </DiscardButton>
      </Group>
      {(replay.isError || discard.isError) && (
        <Problem error={replay.error ?? discard.error} title="It could not be done" />
      )}
    </>
  );
}
