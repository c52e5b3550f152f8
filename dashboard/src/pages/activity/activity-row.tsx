import type { CallbackRowView } from "oncehook/admin-client";
import { memo } from "react";
import { claimedBy } from "../../parts/claimed.ts";
import { outcomeLabel, toneOf } from "../../parts/outcome.ts";
import { Cell, ListRow, type RowPlace } from "../../parts/row-list.tsx";
import { milliseconds } from "../../parts/time.tsx";
import { type TimeZone, timeParts } from "../../parts/time-zone.tsx";
import { reasonOf } from "./reason.ts";

interface Props extends RowPlace {
  readonly callback: CallbackRowView;
  readonly zone: TimeZone;
  readonly isOpen: boolean;
  /** The part of a value that was searched for. */
  readonly searched: string | undefined;
}

/** One callback in one line. */
export const ActivityRow = memo(function ActivityRow({ callback, index, top, zone, isOpen, searched }: Props) {
  const { id, timestamp, source, event_type, event_id, outcome, response_status, processing_ms } = callback;
  const claimed = event_id === null ? claimedBy(callback) : undefined;
  const { date, clock, milliseconds: fraction } = timeParts(timestamp, zone);
  return (
    <ListRow id={id} index={index} top={top} className="activity-row" isOpen={isOpen}>
      <Cell name="time">
        <time dateTime={timestamp}>
          <span className="quiet">{date}</span> {clock}
          <span className="quiet">{fraction}</span>
        </time>
      </Cell>
      <Cell name="source">{source ?? "–"}</Cell>
      <Cell name="type">{event_type ?? <span className="quiet">{claimed?.type ?? "–"}</span>}</Cell>
      <Cell name="outcome">
        <span className="outcome" data-tone={toneOf(outcome, response_status)}>
          {outcomeLabel(outcome)}
        </span>
      </Cell>
      <Cell name="reason">
        <span className="status">{response_status}</span> <Marked text={reasonOf(callback)} part={searched} />
      </Cell>
      <Cell name="event">
        <EventId id={event_id} claimed={claimed?.id} searched={searched} />
      </Cell>
      <Cell name="duration">{milliseconds(processing_ms)}</Cell>
    </ListRow>
  );
});

interface EventIdProps {
  readonly id: string | null;
  readonly claimed: string | undefined;
  readonly searched: string | undefined;
}

function EventId({ id, claimed, searched }: EventIdProps) {
  if (id !== null) return <Marked text={id} part={searched} />;
  if (claimed === undefined) return <span className="quiet">–</span>;
  return (
    <>
      <em className="unverified">unverified</em> <Marked text={claimed} part={searched} />
    </>
  );
}

/** A text in which the searched part is marked. */
function Marked({ text, part }: { readonly text: string; readonly part: string | undefined }) {
  const at = part === undefined ? -1 : text.toLowerCase().indexOf(part.toLowerCase());
  if (part === undefined || at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + part.length)}</mark>
      {text.slice(at + part.length)}
    </>
  );
}
