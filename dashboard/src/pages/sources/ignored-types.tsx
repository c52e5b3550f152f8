import type { UseQueryResult } from "@tanstack/react-query";
import type { SourceDetailsView } from "oncehook/admin-client";
import { Figure } from "../../parts/figure.tsx";
import { Problem } from "../../parts/page-states.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import type { SourceView } from "../../views.ts";

interface Props {
  readonly source: SourceView;
  readonly details: UseQueryResult<SourceDetailsView>;
}

/** The types that no handler takes, or that the filters of the source leave out. */
export function IgnoredTypes({ source: { source }, details: { data, error, refetch } }: Props) {
  const types = data?.ignored.types ?? [];
  const since = data?.ignored.since ?? null;
  return (
    <section aria-labelledby="ignored" className="ignored">
      <h2 id="ignored">
        Ignored
        {since !== null && (
          <span className="quiet">
            since <Time at={since} isShort />
          </span>
        )}
      </h2>
      {error !== null && (
        <Problem error={error} title="The ignored types could not be read" again={() => void refetch()} />
      )}
      {data === undefined && error === null && <p className="quiet">Reading what is ignored</p>}
      {data !== undefined && types.length === 0 && (
        <p className="quiet">No event of this source was ignored: each had a handler, or none came.</p>
      )}
      {types.length > 0 && (
        <Rows
          caption="Ignored events by type"
          columns={columnsOf(source)}
          rows={types}
          keyOf={({ event_type }) => event_type ?? ""}
        />
      )}
    </section>
  );
}

function columnsOf(source: string): readonly Column<SourceDetailsView["ignored"]["types"][number]>[] {
  return [
    { head: "Event type", cell: ({ event_type }) => <code>{event_type ?? "no type"}</code> },
    {
      head: "Count",
      cell: ({ event_type, count }) => (
        <Figure
          count={count}
          search={{ source, outcome: "ignored", ...(event_type !== null && { event_type }) }}
          label={`ignored ${event_type ?? "without a type"}`}
        />
      ),
    },
    { head: "First", cell: ({ first_at }) => <Time at={first_at} isShort /> },
    { head: "Last", cell: ({ last_at }) => <Time at={last_at} isShort /> },
  ];
}
