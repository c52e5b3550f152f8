import { outcomeCounts, type SourceHealthView } from "oncehook/admin-client";
import { Figure } from "../../parts/figure.tsx";
import { LastCallback } from "../../parts/last-callback.tsx";
import { highestOf, OutcomeSparkline } from "../../parts/outcome-sparkline.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { SourceLink } from "../../parts/source-link.tsx";
import { DeadlineShare, SourceState } from "../../parts/source-state.tsx";
import { useSourceHealth } from "../../parts/use-sources.ts";

const HEADS = ["Health", "Source", "Handled", "Refused", "Failed", "Outcomes", "p99 of deadline", "Last callback"];

/** One row a source: its last hour, its p99 against its deadline, and whether it has gone silent. */
export function SourceRows() {
  const { data, error, refetch, isPending } = useSourceHealth();
  const most = highestOf((data ?? []).flatMap(({ periods }) => periods));
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">Sources, last hour</h2>
      {isPending && <Loading what="the sources" />}
      {error !== null && <Problem error={error} title="The sources could not be read" again={() => void refetch()} />}
      {data !== undefined && (
        <table className="source-table">
          <thead>
            <tr>
              {HEADS.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.map((source) => (
              <SourceRow key={source.source} of={source} most={most} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface RowProps {
  readonly of: SourceHealthView;
  /** The callbacks of the highest bar of all rows. */
  readonly most: number;
}

function SourceRow({ of, most }: RowProps) {
  const { source, state, from, outcomes, periods, p99_ms, deadline_ms, ...last } = of;
  const counts = outcomeCounts(outcomes);
  return (
    <tr>
      <td>
        <SourceState state={state} />
      </td>
      <th scope="row">
        <SourceLink source={source} />
      </th>
      {(["handled", "refused", "failed"] as const).map((outcome) => (
        <td key={outcome}>
          <Figure count={counts[outcome]} search={{ source, from, outcome }} label={`${outcome} of ${source}`} />
        </td>
      ))}
      <td>
        <OutcomeSparkline periods={periods} most={most} />
      </td>
      <td>
        <SourceLink source={source} className="figure">
          <DeadlineShare p99_ms={p99_ms} deadline_ms={deadline_ms} />
        </SourceLink>
      </td>
      <td>
        <PageLink to="/activity" search={{ source }} underline="hover" className="figure">
          <LastCallback {...last} />
        </PageLink>
      </td>
    </tr>
  );
}
