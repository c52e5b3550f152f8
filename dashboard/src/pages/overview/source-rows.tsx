import { outcomeCounts, type SourceHealthView } from "oncehook/admin-client";
import { Figure } from "../../parts/figure.tsx";
import { LastCallback } from "../../parts/last-callback.tsx";
import { OutcomeSparkline } from "../../parts/outcome-sparkline.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { SourceLink } from "../../parts/source-link.tsx";
import { DeadlineShare, SourceState } from "../../parts/source-state.tsx";
import { useSourceHealth } from "../../parts/use-sources.ts";

const HEADS = ["Source", "State", "Handled", "Refused", "Failed", "Outcomes", "p99 of deadline", "Last callback"];

/** One row a source: its last hour, its p99 against its deadline, and whether it has gone silent. */
export function SourceRows() {
  const { data, error, refetch, isPending } = useSourceHealth();
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
              <SourceRow key={source.source} of={source} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function SourceRow({ of }: { readonly of: SourceHealthView }) {
  const { source, state, from, outcomes, periods, p99_ms, deadline_ms, ...last } = of;
  const counts = outcomeCounts(outcomes);
  return (
    <tr>
      <th scope="row">
        <SourceLink source={source} />
      </th>
      <td>
        <SourceState state={state} />
      </td>
      {(["handled", "refused", "failed"] as const).map((outcome) => (
        <td key={outcome}>
          <Figure count={counts[outcome]} search={{ source, from, outcome }} label={`${outcome} of ${source}`} />
        </td>
      ))}
      <td>
        <OutcomeSparkline periods={periods} />
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
