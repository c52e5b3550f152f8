import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ChecksView } from "oncehook/admin-client";
import { api, slowApi } from "../../client.ts";
import { capitalised, type Tone } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName, useMayChange } from "../../session.ts";
import { PROBLEM_COUNT } from "../../shell/problem-count.ts";
import { FindingLink, FindingText } from "./finding-text.tsx";
import "./settings.css";

type Finding = ChecksView["findings"][number];

const KEY = ["checks"];
/** The worst first. */
const LEVELS: readonly { readonly level: Finding["level"]; readonly label: string; readonly tone: Tone }[] = [
  { level: "failure", label: "Failure", tone: "failed" },
  { level: "warning", label: "Warning", tone: "refused" },
  { level: "ok", label: "OK", tone: "success" },
];
const COLUMNS: readonly Column<Finding>[] = [
  { head: "State", cell: ({ level }) => <Level level={level} /> },
  { head: "Check", cell: ({ check }) => capitalised(check) },
  {
    head: "Finding",
    cell: (finding) => (
      <>
        <FindingText finding={finding} /> <FindingLink finding={finding} />
      </>
    ),
  },
];

/** The checks of `oncehook doctor`, run in the receiver. */
export function ChecksPage() {
  const queries = useQueryClient();
  const mayChange = useMayChange();
  const checks = useQuery({ queryKey: KEY, queryFn: api.checks.last });
  const run = useMutation({
    mutationFn: slowApi.checks.run,
    onSuccess: (found) => queries.setQueryData(KEY, found),
  });
  return (
    <>
      <PageTitle title="Checks" description="Configuration, database, secrets, certificate and addresses.">
        {mayChange && (
          <Button loading={run.isPending} onClick={() => run.mutate()}>
            Run checks
          </Button>
        )}
      </PageTitle>
      {run.isError && <Problem error={run.error} title="The checks could not be run" />}
      {checks.isPending && <Loading what="the last checks" />}
      {checks.isError && (
        <Problem error={checks.error} title="The last checks could not be read" again={() => void checks.refetch()} />
      )}
      {checks.data !== undefined && <Found checks={checks.data} />}
    </>
  );
}

function Found({ checks: { ran_at, ran_by, findings } }: { readonly checks: ChecksView }) {
  if (ran_at === null)
    return (
      <EmptyState>
        Not run since this process started. They take some seconds, ask the configured services, and change nothing. The
        command does the same:
        <code className="command">npx oncehook doctor</code>
      </EmptyState>
    );
  const of = (level: Finding["level"]) => findings.filter((one) => one.level === level);
  const [failures, warnings, good] = [of("failure"), of("warning"), of("ok")];
  return (
    <>
      <p className="quiet" role="status">
        {counted(failures.length, "check")} failed, {counted(warnings.length, "warning")}, {good.length} OK. Ran{" "}
        <Time at={ran_at} relative /> by {actorName(ran_by)}. <OpenProblems />
      </p>
      {failures.length + warnings.length > 0 && (
        <Findings caption="Failures and warnings" findings={[...failures, ...warnings]} />
      )}
      <details className="good-checks">
        <summary>{counted(good.length, "check")} OK</summary>
        <Findings caption="Checks that are OK" findings={good} />
      </details>
    </>
  );
}

/** The checks are of the installation. Failures of events are on another page. */
function OpenProblems() {
  const { data: open = 0 } = useQuery(PROBLEM_COUNT);
  if (open === 0) return null;
  return <PageLink to="/problems">{open === 1 ? "1 open problem" : `${open} open problems`}</PageLink>;
}

function Findings({ caption, findings }: { readonly caption: string; readonly findings: readonly Finding[] }) {
  return (
    <div className="check-rows">
      <Rows
        caption={caption}
        columns={COLUMNS}
        rows={findings.map((finding, place) => ({ ...finding, place }))}
        keyOf={({ place }) => place}
      />
    </div>
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function Level({ level }: Pick<Finding, "level">) {
  const { label, tone } = LEVELS.find((one) => one.level === level) ?? { label: level, tone: "quiet" };
  return (
    <span className="outcome" data-tone={tone}>
      {label}
    </span>
  );
}
