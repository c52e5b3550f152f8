import { VisuallyHidden } from "@mantine/core";
import { memo } from "react";
import { type Claimed, claimedBy } from "../../parts/claimed.ts";
import { CutText } from "../../parts/cut-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { outcomeTitle, toneOf } from "../../parts/outcome.ts";
import { Cell, ListRow, type RowPlace } from "../../parts/row-list.tsx";
import { milliseconds } from "../../parts/time.tsx";
import { type TimeZone, timeParts } from "../../parts/time-zone.tsx";
import { reasonOf, rowReason } from "./reason.ts";
import type { ActivityRowView } from "./use-activity.ts";

interface Props extends RowPlace {
  readonly callback: ActivityRowView;
  readonly zone: TimeZone;
  readonly isOpen: boolean;
  /** The texts that were searched for. */
  readonly searched: readonly string[];
}

/** One callback in one line. */
export const ActivityRow = memo(function ActivityRow({ callback, index, top, zone, isOpen, searched }: Props) {
  const { id, timestamp, source, event_type, event_id, outcome, response_status, processing_ms } = callback;
  const claimed = event_id === null ? claimedBy(callback) : undefined;
  const { matched } = callback;
  // The match is shown once: in the id of the event, or beside the status.
  const match = matched === null || matched?.value === (event_id ?? claimed?.id) ? undefined : matched;
  const reason = match === undefined ? reasonOf(callback) : `${match.value} in ${match.where}`;
  const { date, clock, milliseconds: fraction } = timeParts(timestamp, zone);
  return (
    <ListRow
      id={id}
      index={index}
      top={top}
      className={`activity-row${match === undefined ? "" : " found"}`}
      isOpen={isOpen}
    >
      <Cell name="time">
        <time dateTime={timestamp}>
          <span className="quiet">{date}</span> {clock}
          <span className="quiet">{fraction}</span>
        </time>
      </Cell>
      <Cell name="source">{source ?? "–"}</Cell>
      <Cell name="type" title={event_type ?? claimed?.type}>
        {event_type ?? <span className="quiet">{claimed?.type ?? "–"}</span>}
      </Cell>
      <Cell name="outcome">
        <span className="outcome" data-tone={toneOf(outcome, response_status)}>
          {outcomeTitle(outcome)}
        </span>
      </Cell>
      <Cell name="reason" title={reason}>
        <span className="status">{response_status}</span>{" "}
        {match === undefined ? (
          <Reason callback={callback} />
        ) : (
          <>
            <Marked text={match.value} parts={searched} isShort /> in {match.where}
          </>
        )}
      </Cell>
      <Cell name="event">
        <EventId id={event_id} claimed={claimed} searched={searched} />
      </Cell>
      <Cell name="duration">{milliseconds(processing_ms)}</Cell>
    </ListRow>
  );
});

/** The end of an error tells it from others; a sentence begins with what matters. */
function Reason({ callback }: { readonly callback: ActivityRowView }) {
  const text = rowReason(callback);
  return callback.diagnosis === null ? <CutText text={text} /> : text;
}

interface EventIdProps {
  readonly id: string | null;
  readonly claimed: Claimed | undefined;
  readonly searched: readonly string[];
}

function EventId({ id, claimed, searched }: EventIdProps) {
  if (id !== null)
    return (
      <span title={id}>
        <Marked text={id} parts={searched} />
      </span>
    );
  if (claimed?.id === undefined) return <span className="quiet">–</span>;
  const marked = <Marked text={claimed.id} parts={searched} />;
  if (!claimed.isUnverified)
    return (
      <span className="quiet" title={claimed.id}>
        {marked}
      </span>
    );
  return (
    <span className="claimed" title={`${claimed.id}, unverified`}>
      <VisuallyHidden component="em">unverified</VisuallyHidden> <span>{marked}</span>
      <Icon name="unverified" size={14} />
    </span>
  );
}

interface MarkedProps {
  readonly text: string;
  readonly parts: readonly string[];
  /** Only a few characters before the mark, which must be seen. */
  readonly isShort?: boolean;
}

const BEFORE = 8;

/** A text in which the first of the parts that it has is marked. */
function Marked({ text, parts, isShort = false }: MarkedProps) {
  const lower = text.toLowerCase();
  const part = parts.find((one) => lower.includes(one.toLowerCase()));
  if (part === undefined) return text;
  const at = lower.indexOf(part.toLowerCase());
  const from = isShort ? Math.max(0, at - BEFORE) : 0;
  return (
    <>
      {from > 0 && "…"}
      {text.slice(from, at)}
      <mark>{text.slice(at, at + part.length)}</mark>
      {text.slice(at + part.length)}
    </>
  );
}
