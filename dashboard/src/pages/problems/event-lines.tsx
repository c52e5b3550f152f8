import type { ReactNode } from "react";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";

export interface EventLine {
  readonly key: string | number;
  readonly at: string;
  /** The event's id, or the callback's number. */
  readonly name: string;
  /** The `open` of its panel in Activity. */
  readonly open: string;
  /** Its state, attempts or error, where the other lines have another one. */
  readonly note?: ReactNode;
  /** All of a note that the line may cut. */
  readonly title?: string | undefined;
}

interface Props {
  readonly label: string;
  /** Of the times, the names and the notes. */
  readonly heads: readonly [at: string, name: string, note: string];
  readonly lines: readonly EventLine[];
}

/** Events that share a cause, a line each; their panel has their stacks. */
export function EventLines({ label, heads: [at, name, note], lines }: Props) {
  const hasNotes = lines.some((line) => line.note !== undefined && line.note !== null);
  return (
    <>
      <div className="event-heads" aria-hidden="true">
        <span>{at}</span>
        <span>{name}</span>
        <span>{hasNotes && note}</span>
      </div>
      <Lines label={label} lines={lines} />
    </>
  );
}

function Lines({ label, lines }: Pick<Props, "label" | "lines">) {
  return (
    <ol className="event-lines" aria-label={label}>
      {lines.map(({ key, at, name, open, note, title }) => (
        <li key={key}>
          <Time at={at} />
          <PageLink to="/activity" search={{ open }} underline="hover" className="event-id" title={name}>
            {name}
          </PageLink>
          <span className="quiet" title={title}>
            {note}
          </span>
        </li>
      ))}
    </ol>
  );
}
