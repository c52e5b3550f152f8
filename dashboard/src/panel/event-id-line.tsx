import type { CallbackView, EventHistoryView } from "oncehook/admin-client";
import { claimedBy } from "../parts/claimed.ts";
import { CopyIcon } from "../parts/copy.tsx";

interface Props {
  readonly callback: CallbackView | undefined;
  readonly history: EventHistoryView | undefined;
}

/** The event's id, to copy; without an authentic event, the id that the callback claims. */
export function EventIdLine({ callback, history }: Props) {
  const authentic = history?.event_id ?? callback?.event_id ?? undefined;
  const claimed = callback === undefined ? undefined : claimedBy(callback);
  const id = authentic ?? claimed?.id;
  if (id === undefined) return null;
  return (
    <div className="panel-id">
      <code>{id}</code>
      <CopyIcon text={id} what="event id" icon="copy" />
      {authentic === undefined && claimed?.isUnverified && <em className="unverified">unverified</em>}
    </div>
  );
}
