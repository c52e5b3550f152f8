import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FailureView } from "oncehook/admin-client";
import { isStatus, slowApi } from "../client.ts";
import { outcomeLabel } from "../parts/outcome.ts";
import type { FinishedReplay } from "./failure-action-result.tsx";

interface ReplayRequest {
  readonly dry_run: boolean;
  readonly button: HTMLButtonElement;
}

/** Called with the results of actions. */
export interface FailureActionHandlers {
  /** Called with the result of a replay or a discard: with the failure its buttons disappear. */
  readonly onDone: (says: string) => void;
  /** Called with the result of a replay or dry run, and its button. */
  readonly onReplay: (replayed: FinishedReplay) => void;
}

/** Reads again what an action on a failure has changed. */
export function useFailureRefresh(failure: Pick<FailureView, "source" | "event_id"> | undefined) {
  const queries = useQueryClient();
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["problems"] }),
      queries.invalidateQueries({ queryKey: ["event", failure?.source, failure?.event_id] }),
      queries.invalidateQueries({ queryKey: ["overview"] }),
    ]);
}

/** Runs a failure, dry or for good. @param all what else the result of a dry run offers to replay */
export function useReplay(
  failure: Pick<FailureView, "source" | "event_id"> | undefined,
  { onDone, onReplay }: FailureActionHandlers,
  all?: FinishedReplay["all"],
) {
  const refresh = useFailureRefresh(failure);
  const eventId = failure?.event_id ?? "";
  const replay = useMutation({
    mutationFn: ({ dry_run }: ReplayRequest) =>
      slowApi.failures.replay({ source: failure?.source ?? "", event_id: eventId }, { dry_run }),
    onSuccess: (replayed, { button }) => {
      const again = () => replay.mutate({ dry_run: false, button });
      onReplay({ replay: replayed, eventId, button, again, all });
      if (!replayed.dry_run) onDone(`${eventId} was run now: ${outcomeLabel(replayed.outcome)}.`);
    },
    // A failure that is gone takes its buttons along, and any message beside them.
    onError: (error) => {
      if (isStatus(error, 404)) onDone(`${eventId}: ${error.message}.`);
    },
    // A dry run has changed nothing, and its button can have the focus back at once.
    onSettled: (replayed, _error, { dry_run }) => (dry_run && replayed !== undefined ? undefined : refresh()),
  });
  return replay;
}
