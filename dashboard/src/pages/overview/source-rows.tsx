import { useQuery } from "@tanstack/react-query";
import { outcomeCounts, type SourceHealthView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import { Figure } from "./figure.tsx";

const EVERY_MS = 15_000;
const HEADS = ["Source", "Handled", "Refused", "Failed", "p99 of deadline", "Last callback", "State"];

/** One row a source: its last hour, its p99 against its deadline, and whether it has gone silent. */
export function SourceRows() {
  const { data, error, refetch, isPending } = useQuery({
    queryKey: ["overview", "sources"],
    queryFn: api.sources.health,
    refetchInterval: EVERY_MS,
  });
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
            {data.items.map((source) => (
              <SourceRow key={source.source} of={source} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const STATES = {
  ok: { label: "Healthy", tone: "success" },
  failing: { label: "Failing", tone: "failed" },
  refusing: { label: "Refusing", tone: "refused" },
  silent: { label: "Silent", tone: "refused" },
  idle: { label: "No callback", tone: "quiet" },
} as const;

function SourceRow({ of: { source, state, from, outcomes, last_callback_at, ...times } }: { of: SourceHealthView }) {
  const counts = outcomeCounts(outcomes);
  const { label, tone } = STATES[state];
  return (
    <tr>
      <th scope="row">
        <PageLink to="/sources" hash={source} underline="hover">
          {source}
        </PageLink>
      </th>
      {(["handled", "refused", "failed"] as const).map((outcome) => (
        <td key={outcome}>
          <Figure count={counts[outcome]} search={{ source, from, outcome }} label={`${outcome} of ${source}`} />
        </td>
      ))}
      <td>
        <PageLink to="/sources" hash={source} underline="hover" className="figure">
          <Deadline {...times} />
        </PageLink>
      </td>
      <td>
        <PageLink to="/activity" search={{ source }} underline="hover" className="figure">
          <Time at={last_callback_at} />
        </PageLink>
      </td>
      <td>
        <span className="outcome" data-tone={tone}>
          {label}
        </span>
      </td>
    </tr>
  );
}

/** How much of its deadline the slowest of a hundred responses takes. */
function Deadline({ p99_ms, deadline_ms }: Pick<SourceHealthView, "p99_ms" | "deadline_ms">) {
  if (p99_ms === null) return "–";
  if (deadline_ms === null) return milliseconds(p99_ms);
  const share = Math.min(1, p99_ms / deadline_ms);
  return (
    <>
      <span className="deadline" data-late={p99_ms > deadline_ms} aria-hidden="true">
        <i style={{ width: `${Math.max(2, share * 100)}%` }} />
      </span>
      {milliseconds(p99_ms)} of {deadline_ms / 1_000} s
    </>
  );
}
