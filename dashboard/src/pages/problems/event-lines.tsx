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
  readonly state: string;
  readonly error: string | null;
  /** In place of the error. */
  readonly note?: ReactNode;
}

const STATES: Readonly<Record<string, string>> = { waiting: "waits for a retry" };

/** Events that share a cause, a line each; their panel has their stacks. */
export function EventLines({ label, lines }: { readonly label: string; readonly lines: readonly EventLine[] }) {
  return (
    <ol className="event-lines" aria-label={label}>
      {lines.map(({ key, at, name, open, state, error, note }) => (
        <li key={key}>
          <Time at={at} />
          <PageLink to="/activity" search={{ open }} underline="hover" className="event-id">
            {name}
          </PageLink>
          <span className="quiet">{STATES[state] ?? state.replaceAll("_", " ")}</span>
          <span className="quiet" title={error ?? undefined}>
            {note ?? error?.replaceAll("`", "")}
          </span>
        </li>
      ))}
    </ol>
  );
}
