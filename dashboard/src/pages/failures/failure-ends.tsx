import { Alert } from "@mantine/core";
import type { ReplayView } from "oncehook/admin-client";
import { useRef } from "react";
import { ReplayResult } from "./replay-result.tsx";

/** A replay that has ended, or a dry run. */
export interface Replayed {
  readonly replay: ReplayView;
  readonly eventId: string;
  /** What was pressed for it. */
  readonly button: HTMLButtonElement;
}

interface Props {
  /** What came of the last action that changed something. */
  readonly said: string | undefined;
  /** Shown until it is closed. */
  readonly replayed: Replayed | undefined;
  readonly close: () => void;
}

/** What came of actions on failures. It belongs to the page, since an action that succeeds takes its failure's row away. */
export function FailureEnds({ said, replayed, close }: Props) {
  const status = useRef<HTMLDivElement>(null);
  const leave = ({ replay, button }: Replayed) => {
    close();
    // Back to where one was; what has been run is gone from there, or soon will be.
    if (replay.dry_run && button.isConnected) button.focus();
    else status.current?.focus();
  };
  return (
    <>
      <div role="status" ref={status} tabIndex={-1}>
        {said !== undefined && <Alert color="blue">{said}</Alert>}
      </div>
      {replayed !== undefined && (
        <ReplayResult replay={replayed.replay} eventId={replayed.eventId} close={() => leave(replayed)} />
      )}
    </>
  );
}
