import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ProblemDetailView, ProblemView } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { FailureActionResult, type FinishedReplay } from "../../panel/failure-action-result.tsx";
import { OfSource } from "../../panel/of-source.tsx";
import { PanelFrame } from "../../panel/panel-frame.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { plain } from "../../parts/plain-message.ts";
import { problemCause } from "../../parts/problem-cause.ts";
import { sourceOrChannel } from "../../parts/problem-steps.ts";
import { Sparkline } from "../../parts/sparkline.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName } from "../../session.ts";
import { ProblemActions } from "./problem-actions.tsx";
import { ProblemEvents } from "./problem-events.tsx";
import { ProblemStack } from "./problem-stack.tsx";
import { COUNT, problemEvents, problemOutcome } from "./problem-text.ts";
import { RefusalFacts } from "./refusal-facts.tsx";
import { ReplayResult } from "./replay-result.tsx";
import { useFailures } from "./use-failures.ts";
import { useReplays } from "./use-replays.ts";

const EVERY_MS = 10_000;

interface Props {
  readonly id: string;
  readonly close: () => void;
}

/** One cause: what is wrong, its remedy, the way to mend it, and its events. */
export function ProblemPanel({ id, close }: Props) {
  const detail = useProblem(id);
  const { data: replays = [] } = useReplays();
  const [message, setMessage] = useState<string>();
  const [replayed, setReplayed] = useState<FinishedReplay>();
  const [newest] = detail.data?.pages ?? [];
  const problem = newest?.problem;
  const events = detail.data?.pages.flatMap((page) => page.events) ?? [];
  const replay = replays.find(({ filter }) => filter.problem === id);
  return (
    <PanelFrame
      label="Problem"
      title={problem === undefined ? "Problem" : <Title problem={problem} />}
      beside={problem !== undefined && <Time at={problem.last_seen} relative />}
      close={close}
    >
      {detail.isError && (
        <Problem error={detail.error} title="The problem could not be read" again={() => void detail.refetch()} />
      )}
      {detail.isPending && <Loading what="the problem" />}
      {problem !== undefined && (
        <>
          <Summary problem={problem} host={newest?.channel_host ?? null} />
          <FailureActionResult message={message} replayed={replayed} close={() => setReplayed(undefined)} />
          <ProblemActions problem={problem} onDone={setMessage} onReplay={setReplayed} />
          <div className="panel-content">
            {replay !== undefined && <ReplayResult replay={replay} isInProblem />}
            {problem.kind === "refusal" && <RefusalFacts problem={problem} newest={events[0]} />}
            {problem.kind === "failure" && problem.count > 0 && <ProblemStack id={id} />}
            <ProblemEvents problem={problem} events={events} />
            {detail.hasNextPage && (
              <Button variant="default" loading={detail.isFetchingNextPage} onClick={() => void detail.fetchNextPage()}>
                Load more
              </Button>
            )}
          </div>
        </>
      )}
    </PanelFrame>
  );
}

function useProblem(id: string) {
  return useInfiniteQuery({
    queryKey: ["problems", "one", id],
    queryFn: ({ pageParam }): Promise<ProblemDetailView> =>
      api.problems.get(id, pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: ({ state: { data } }) => EVERY_MS * (data?.pages.length ?? 1),
  });
}

function Title({ problem }: { readonly problem: ProblemView }) {
  return (
    <>
      {problemCause(problem).what}{" "}
      {problem.kind === "delivery" ? (
        <span className="quiet">· {sourceOrChannel(problem)}</span>
      ) : (
        <OfSource source={problem.source} />
      )}
    </>
  );
}

interface SummaryProps {
  readonly problem: ProblemView;
  /** Of the channel of failed deliveries. */
  readonly host: string | null;
}

/** The state of the problem in a sentence, and its remedy. */
function Summary({ problem, host }: SummaryProps) {
  const { state, resolved_at, muted_until, muted_by, mute_reason, remedy, hourly, first_seen, last_seen } = problem;
  const { tone, label } = problemOutcome(problem);
  if (state === "resolved")
    return (
      <section className="result-line" data-tone="success" aria-label="What is wrong">
        <p>
          Resolved at <Time at={resolved_at} relative />: nothing of it is left.
        </p>
        <p>{problemCause(problem).why}</p>
      </section>
    );
  return (
    <section className="result-line" data-tone={tone} aria-label="What is wrong">
      <p>
        {problemEvents(problem)} {problem.kind === "delivery" ? "failed" : label} since{" "}
        <Time at={first_seen} relative />, the last one at <Time at={last_seen} />
      </p>
      {problem.kind === "failure" && <Retries problem={problem} />}
      <p>{problemCause(problem).why}</p>
      {host !== null && (
        <p>
          Host of the channel: <code>{host}</code>
        </p>
      )}
      {remedy !== null && <p className="remedy">{plain(remedy)}</p>}
      {state === "muted" && (
        <p>
          Muted until <Time at={muted_until} /> by {actorName(muted_by)}: {mute_reason}
        </p>
      )}
      <div className="problem-hours">
        <Sparkline hourly={hourly} tone={tone} />
        <span>Last 24 hours</span>
      </div>
    </section>
  );
}

/** Events that are retried by themselves. The next retry is known only where all of them were read. */
function Retries({ problem: { id, states } }: { readonly problem: ProblemView }) {
  const { data = [] } = useFailures(id);
  const { waiting = 0 } = states;
  if (waiting === 0) return null;
  const times = data.filter(({ state }) => state === "waiting").flatMap(({ next_attempt_at: at }) => at ?? []);
  const next = times.length < waiting ? undefined : times.toSorted()[0];
  return (
    <p>
      {COUNT.format(waiting)} {waiting === 1 ? "waits" : "wait"} for a retry
      {next !== undefined && (
        <>
          , the next one at <Time at={next} relative isAhead />
        </>
      )}
    </p>
  );
}
