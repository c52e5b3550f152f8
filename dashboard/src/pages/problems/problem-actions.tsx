import { Anchor, Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProblemView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { type FailureActionHandlers, useReplay } from "../../panel/use-replay.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Problem } from "../../parts/page-states.tsx";
import { PROBLEM_STEPS } from "../../parts/problem-steps.ts";
import { SourceLink } from "../../parts/source-link.tsx";
import { useMayChange } from "../../session.ts";
import { MuteProblem } from "./mute-problem.tsx";
import { allOf, COUNT } from "./problem-text.ts";
import { StartReplayButton } from "./start-replay.tsx";
import { useStartReplay } from "./use-replays.ts";

interface Props extends FailureActionHandlers {
  readonly problem: ProblemView;
}

/** The way to mend a problem; reading it, a viewer has only the file. */
export function ProblemActions({ problem, onDone, onReplay }: Props) {
  const { kind, source, count, state, since } = problem;
  const mayChange = useMayChange() && state !== "resolved";
  return (
    <div className="panel-actions">
      {mayChange && kind === "failure" && <FailureButtons problem={problem} onDone={onDone} onReplay={onReplay} />}
      {kind === "delivery" && (
        <PageLink to="/settings" search={{ find: source }} underline="never" className="action-link">
          {PROBLEM_STEPS.delivery}
        </PageLink>
      )}
      {mayChange && kind === "delivery" && <DeliverButton problem={problem} onDone={onDone} />}
      {kind === "refusal" && (
        <SourceLink source={source} hash="secrets" className="action-link">
          Secrets of {source}
        </SourceLink>
      )}
      {mayChange && <MuteProblem problem={problem} />}
      {count > 0 && kind === "failure" && (
        <Export href={api.failures.exportUrl({ problem: problem.id }, "csv")} name={`problem-${problem.id}.csv`} />
      )}
      {count > 0 && kind === "refusal" && (
        <Export
          href={api.callbacks.exportUrl({ source, status: "4xx", from: since }, "csv")}
          name={`problem-${problem.id}.csv`}
        />
      )}
    </div>
  );
}

function Export({ href, name }: { readonly href: string; readonly name: string }) {
  return (
    <span className="export">
      <Anchor href={href} download={name}>
        Export CSV
      </Anchor>
    </span>
  );
}

/** A dry run comes first: a replay writes. */
function FailureButtons({ problem, onDone, onReplay }: Props) {
  const { id, example, count } = problem;
  const title = allOf("Replay", problem);
  const start = useStartReplay(id);
  const failure = example ?? undefined;
  const replay = useReplay(
    failure,
    { onDone, onReplay },
    count > 1 ? { title, run: () => start.mutate(undefined) } : undefined,
  );
  return (
    <>
      <Button
        size="compact-sm"
        loading={replay.isPending}
        disabled={failure === undefined}
        title={failure === undefined ? undefined : `Of ${failure.event_id}`}
        onClick={({ currentTarget }) => replay.mutate({ dry_run: true, button: currentTarget })}
      >
        Dry run
      </Button>
      <StartReplayButton title={title} start={start} />
      {(replay.isError || start.isError) && (
        <Problem error={replay.error ?? start.error} title="It could not be done" />
      )}
    </>
  );
}

function DeliverButton({ problem, onDone }: Omit<Props, "onReplay">) {
  const queries = useQueryClient();
  const deliver = useMutation({
    mutationFn: () => api.problems.deliver(problem.id),
    onSuccess: ({ deliveries }) =>
      onDone(`${COUNT.format(deliveries)} ${deliveries === 1 ? "delivery is" : "deliveries are"} due now.`),
    onSettled: () => queries.invalidateQueries({ queryKey: ["problems"] }),
  });
  return (
    <>
      <Button size="compact-sm" variant="default" loading={deliver.isPending} onClick={() => deliver.mutate()}>
        {allOf("Deliver", problem)} again
      </Button>
      {deliver.isError && <Problem error={deliver.error} title="It could not be done" />}
    </>
  );
}
