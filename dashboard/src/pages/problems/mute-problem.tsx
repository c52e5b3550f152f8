import type { ProblemView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { MuteButton } from "../../parts/mute-button.tsx";
import { problemCause } from "../../parts/problem-cause.ts";
import { sourceOrChannel } from "../../parts/problem-steps.ts";

interface Props {
  readonly problem: ProblemView;
  readonly isIcon?: boolean;
}

/** No alert of the problem until a time. */
export function MuteProblem({ problem, isIcon = false }: Props) {
  const { id, state } = problem;
  return (
    <MuteButton
      name={`${problemCause(problem).what} of ${sourceOrChannel(problem)}`}
      isMuted={state === "muted"}
      isIcon={isIcon}
      mute={(body) => api.problems.mute(id, body)}
      unmute={() => api.problems.unmute(id)}
    />
  );
}
