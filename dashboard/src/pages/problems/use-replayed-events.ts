import type { BulkReplayView } from "oncehook/admin-client";
import { capitalised } from "../../parts/outcome.ts";
import { problemCause } from "../../parts/problem-cause.ts";
import { useProblems } from "./use-problems.ts";

/** Which events are replayed: those of a problem by its cause, others by their filter. */
export function useReplayedEvents(replay: BulkReplayView | undefined): string {
  const { data } = useProblems();
  if (replay === undefined) return "Bulk replay";
  const { filter, scope } = replay;
  const problem = data?.items.find(({ id }) => id === filter.problem);
  if (problem !== undefined) {
    const { what, why } = problemCause(problem);
    return `${what} of ${problem.source}: ${why}`;
  }
  const { source, event_type, ...others } = filter;
  const named = [source, event_type].filter((name) => name !== undefined && name !== null).join(" ");
  const rest = Object.entries(others).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [`${name.replace("_", " ")} ${value}`],
  );
  const what = scope === "events" ? "handled events" : "failures";
  return [...(named === "" ? [capitalised(what)] : [named, what]), ...rest].join(", ");
}
