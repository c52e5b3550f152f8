import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FailureView, ReplayView } from "oncehook/admin-client";
import { useState } from "react";
import { api, isStatus, patientApi } from "../../client.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useMayChange } from "../../session.ts";
import { ReplayResult } from "./replay-result.tsx";

interface Props {
  readonly failure: FailureView;
  /** Told of what came of a replay or a discard: with the failure these buttons go too. */
  readonly onEnd: (says: string) => void;
}

/** What an operator can do about a failed event; nothing for those who may only look. */
export function FailureActions({ failure, onEnd }: Props) {
  const queries = useQueryClient();
  const [result, setResult] = useState<ReplayView>();
  const [isAsking, asking] = useDisclosure();
  const refresh = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["failures"] }),
      queries.invalidateQueries({ queryKey: ["event", failure.source, failure.event_id] }),
      queries.invalidateQueries({ queryKey: ["overview"] }),
    ]);
  // A failure that is no more takes its row along, and what would be said there.
  const tell = (error: Error) => {
    if (isStatus(error, 404)) onEnd(`${failure.event_id}: ${error.message}.`);
  };
  const replay = useMutation({
    mutationFn: (dry_run: boolean) => patientApi.failures.replay(failure, { dry_run }),
    onSuccess: (replayed) => {
      setResult(replayed);
      if (!replayed.dry_run)
        onEnd(`${failure.event_id} was run now: ${replayed.outcome.replaceAll("_", " ")}.`);
    },
    onError: tell,
    onSettled: refresh,
  });
  const discard = useMutation({
    mutationFn: () => api.failures.discard(failure),
    onSuccess: () => onEnd(`The failure of ${failure.event_id} was discarded.`),
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
          onClick={() => replay.mutate(false)}
          aria-label={`Retry now:${named}`}
        >
          Retry now
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          disabled={busy}
          onClick={() => replay.mutate(true)}
          aria-label={`Dry run:${named}`}
        >
          Dry run
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
      {result !== undefined && (
        <ReplayResult replay={result} eventId={failure.event_id} close={() => setResult(undefined)} />
      )}
      <Confirm
        title="Discard this failure?"
        action="Discard it"
        isOpen={isAsking}
        isBusy={discard.isPending}
        onConfirm={() => discard.mutate()}
        onClose={asking.close}
      >
        {failure.event_id} will not be retried any more, and its body is deleted. It cannot be undone; only
        the platform can send the event again.
      </Confirm>
    </>
  );
}
