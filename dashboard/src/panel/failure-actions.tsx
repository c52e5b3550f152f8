import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FailureView } from "oncehook/admin-client";
import { api, isStatus, slowApi } from "../client.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Problem } from "../parts/page-states.tsx";
import { useMayChange } from "../session.ts";
import type { FinishedReplay } from "./failure-action-result.tsx";

interface ReplayRequest {
  readonly dry_run: boolean;
  readonly button: HTMLButtonElement;
}

/** Called with the results of actions. */
export interface FailureActionHandlers {
  /** Called with the result of a replay or a discard: with the failure these buttons disappear. */
  readonly onDone: (says: string) => void;
  /** Called with the result of a replay or dry run, and its button. */
  readonly onReplay: (replayed: FinishedReplay) => void;
}

interface Props extends FailureActionHandlers {
  readonly failure: FailureView;
}

/** The buttons of a failed event, for operators. */
export function FailureActions({ failure, onDone, onReplay }: Props) {
  const queries = useQueryClient();
  const [isAsking, asking] = useDisclosure();
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["failures"] }),
      queries.invalidateQueries({ queryKey: ["event", failure.source, failure.event_id] }),
      queries.invalidateQueries({ queryKey: ["overview"] }),
    ]);
  // A failure that is gone takes its row along, and any message in it.
  const tell = (error: Error) => {
    if (isStatus(error, 404)) onDone(`${failure.event_id}: ${error.message}.`);
  };
  const replay = useMutation({
    mutationFn: ({ dry_run }: ReplayRequest) => slowApi.failures.replay(failure, { dry_run }),
    onSuccess: (replayed, { button }) => {
      const again = () => replay.mutate({ dry_run: false, button });
      onReplay({ replay: replayed, eventId: failure.event_id, button, again });
      if (!replayed.dry_run) onDone(`${failure.event_id} was run now: ${replayed.outcome.replaceAll("_", " ")}.`);
    },
    onError: tell,
    onSettled: refresh,
  });
  const discard = useMutation({
    mutationFn: () => api.failures.discard(failure),
    onSuccess: () => onDone(`The failure of ${failure.event_id} was discarded.`),
    onError: tell,
    onSettled: () => {
      asking.close();
      return refresh();
    },
  });
  if (!useMayChange()) return null;
  const busy = replay.isPending || discard.isPending;
  const named = ` ${failure.event_id}`;
  return (
    <>
      <Group gap="xs">
        <Button
          size="compact-sm"
          disabled={busy}
          onClick={({ currentTarget }) => replay.mutate({ dry_run: true, button: currentTarget })}
          aria-label={`Dry run:${named}`}
        >
          Dry run
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={busy}
          onClick={({ currentTarget }) => replay.mutate({ dry_run: false, button: currentTarget })}
          aria-label={`Replay:${named}`}
        >
          Replay
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={busy}
          onClick={asking.open}
          aria-label={`Discard:${named}`}
        >
          Discard
        </Button>
      </Group>
      {(replay.isError || discard.isError) && (
        <Problem error={replay.error ?? discard.error} title="It could not be done" />
      )}
      <Confirm
        title="Discard this failure?"
        action="Discard it"
        isOpen={isAsking}
        isBusy={discard.isPending}
        onConfirm={() => discard.mutate()}
        onClose={asking.close}
      >
        {failure.event_id} will not be retried any more, and its body is deleted. It cannot be undone; only the platform
        can send the event again.
      </Confirm>
    </>
  );
}
