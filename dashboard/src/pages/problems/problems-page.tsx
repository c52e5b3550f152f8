import { Anchor } from "@mantine/core";
import { getRouteApi, useParams } from "@tanstack/react-router";
import type { ProblemListView, ProblemView } from "oncehook/admin-client";
import { useCallback, useRef } from "react";
import { api } from "../../client.ts";
import { Copy } from "../../parts/copy.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { RowList, type RowListHandle, SkipToList } from "../../parts/row-list.tsx";
import { useListKeys } from "../../parts/use-list-keys.ts";
import { useMayChange } from "../../session.ts";
import { ProblemFilters } from "./problem-filter-bar.tsx";
import { isOfFilters, isOfState, type ProblemSearch, problemSearch } from "./problem-filters.ts";
import { ProblemPanel } from "./problem-panel.tsx";
import { PROBLEM_HEADS, PROBLEM_HEIGHT, ProblemRow } from "./problem-row.tsx";
import "./problems.css";
import { useProblems, useStillOrder } from "./use-problems.ts";

const route = getRouteApi("/inside/problems");
const COMMAND = "npx oncehook problems";

/** The problems, a line for each cause, and the panel of the open one. */
export function ProblemsPage() {
  const search = problemSearch(route.useSearch());
  const { id: open } = useParams({ strict: false });
  const navigate = route.useNavigate();
  const list = useProblems();
  const ordered = useStillOrder(list.data?.items ?? []);
  const ofFilters = ordered.filter((problem) => isOfFilters(problem, search));
  const rows = ofFilters.filter((problem) => isOfState(problem, search.state));
  const handle = useRef<RowListHandle>(null);
  const mayChange = useMayChange();
  const close = () => void navigate({ to: "/problems", search: (was) => was, resetScroll: false });
  const openRow = useCallback(
    ({ id }: Pick<ProblemView, "id">) =>
      void navigate({
        to: "/problems/$id",
        params: { id },
        search: (was) => was,
        replace: open !== undefined,
        resetScroll: false,
      }),
    [navigate, open],
  );
  useListKeys({ rows, open, openRow, close, handle });
  const change = (next: ProblemSearch) => void navigate({ search: (was) => ({ ...problemSearch(was), ...next }) });
  return (
    <div className="list-page">
      <SkipToList />
      <div className="list-top">
        <PageTitle title="Problems">
          <FailureExport />
        </PageTitle>
        <ProblemFilters search={search} problems={ofFilters} all={ordered} change={change} />
      </div>
      <div className="list-body">
        {list.isPending && <Loading what="the problems" />}
        {list.isError && (
          <Problem error={list.error} title="The problems could not be read" again={() => void list.refetch()} />
        )}
        {rows.length > 0 && (
          <RowList
            ref={handle}
            label="Problems by cause"
            className="problem-list"
            heads={PROBLEM_HEADS}
            narrowHeight={PROBLEM_HEIGHT}
            rows={rows}
            open={openRow}
            end={<Counted list={list.data} />}
          >
            {(problem, place) => (
              <ProblemRow
                key={problem.id}
                problem={problem}
                {...place}
                isOpen={problem.id === open}
                mayChange={mayChange}
                open={openRow}
              />
            )}
          </RowList>
        )}
        {list.isSuccess && rows.length === 0 && (
          <NoRows state={search.state} isFiltered={ordered.length > ofFilters.length} />
        )}
        {open !== undefined && <ProblemPanel key={open} id={open} close={close} />}
      </div>
    </div>
  );
}

/** Everything that failed and is not handled since, as a file. */
function FailureExport() {
  return (
    <span className="export">
      Export failures
      {(["csv", "ndjson"] as const).map((format) => (
        <Anchor key={format} href={api.failures.exportUrl({}, format)} download={`failures.${format}`}>
          {format.toUpperCase()}
        </Anchor>
      ))}
    </span>
  );
}

function Counted({ list }: { readonly list: ProblemListView | undefined }) {
  if (list?.is_complete !== false) return null;
  return (
    <p className="list-end quiet" role="status">
      There are more rows than one request counts: the numbers are lower bounds, and grow with the next reading.
    </p>
  );
}

interface NoRowsProps {
  readonly state: ProblemSearch["state"];
  /** Whether other filters leave problems out. */
  readonly isFiltered: boolean;
}

/** Teaches what comes here, with the command to copy. */
function NoRows({ state, isFiltered }: NoRowsProps) {
  if (isFiltered) return <EmptyState>No problem matches these filters.</EmptyState>;
  if (state === "muted") return <EmptyState>No problem is muted.</EmptyState>;
  if (state === "resolved") return <EmptyState>No problem was resolved in the last 30 days.</EmptyState>;
  return (
    <EmptyState>
      No problem is open. Failed events, sources whose callbacks are all refused, and failed deliveries come here, a
      line for each cause.
      <br />A command lists them too, and exits with 1 while one is open:
      <code className="command">{COMMAND}</code>
      <div className="copy-command">
        <Copy text={COMMAND} what="command" />
      </div>
    </EmptyState>
  );
}
