import type { ReactNode } from "react";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";
import "./event-lines.css";

export interface EventLine {
  readonly key: string | number;
  readonly at: string;
  /** The type of the event, or the topic of the notification before it. */
  readonly about?: readonly (string | null | undefined)[];
  /** The event's id, or the callback's number. */
  readonly name?: string;
  /** The `open` of its panel in Activity. */
  readonly open?: string | undefined;
  /** Behind the name. */
  readonly mark?: ReactNode;
  /** In place of all of these: a line without an event. */
  readonly whole?: ReactNode;
  /** Its state, attempts or error, where the other lines have another one. */
  readonly note?: ReactNode;
  /** All of a note that the line may cut. */
  readonly title?: string | undefined;
}

interface Props {
  readonly label: string;
  /** Of the times, of what stands before the names, of the names and the notes. */
  readonly heads: readonly [at: string, ...string[]];
  readonly lines: readonly EventLine[];
}

/** Events that share a cause, a line each; their panel has their stacks. */
export function EventLines({ label, heads, lines }: Props) {
  const hasNotes = lines.some(({ note }) => note !== undefined && note !== null);
  const columns = heads.length;
  const shown = hasNotes ? heads : [...heads.slice(0, -1), ""];
  return (
    <div className="event-table" data-columns={columns} data-notes={hasNotes}>
      <div className="event-heads" aria-hidden="true">
        {shown.map((head) => (
          <span key={head}>{head}</span>
        ))}
      </div>
      <ol className="event-lines" aria-label={label}>
        {lines.map((line) => (
          <li key={line.key} title={line.title}>
            <Time at={line.at} />
            {line.whole === undefined ? <Named line={line} /> : <span className="event-whole">{line.whole}</span>}
            <span className="quiet event-note">{line.note}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Named({ line: { about = [], name = "", open, mark } }: { readonly line: EventLine }) {
  const [first, second] = about;
  return (
    <>
      {about.length > 0 && <About text={first} />}
      {about.length > 1 && <About text={second} />}
      <span className="event-name">
        {open === undefined ? (
          name
        ) : (
          <PageLink to="/activity" search={{ open }} underline="hover" className="event-id" title={name}>
            {name}
          </PageLink>
        )}
        {mark}
      </span>
    </>
  );
}

function About({ text }: { readonly text: string | null | undefined }) {
  return (
    <span className="event-about" title={text ?? undefined}>
      {text ?? <span className="quiet">–</span>}
    </span>
  );
}
