import type { BulkReplayView } from "oncehook/admin-client";
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
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null);
  const text = set.map(([name, value]) => `${name.replace("_", " ")} ${value}`).join(", ");
  if (scope === "events") return `Handled events: ${text}`;
  return text === "" ? "All failures" : text;
}
