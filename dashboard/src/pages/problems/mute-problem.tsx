import type { ProblemView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { MuteButton } from "../../parts/mute-button.tsx";
import { problemCause } from "../../parts/problem-cause.ts";

interface Props {
  readonly problem: ProblemView;
  readonly isIcon?: boolean;
}

/** No alert of the problem until a time. */
export function MuteProblem({ problem, isIcon = false }: Props) {
  const { id, state, source } = problem;
  return (
    <MuteButton
      name={`${problemCause(problem).what} of ${source}`}
      isMuted={state === "muted"}
      isIcon={isIcon}
      mute={(body) => api.problems.mute(id, body)}
      unmute={() => api.problems.unmute(id)}
    />
  );
}
