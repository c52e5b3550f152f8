import { useQuery } from "@tanstack/react-query";
import type { ProblemView } from "oncehook/admin-client";
import { useRef } from "react";
import { PROBLEM_LIST } from "../../parts/problem-list.ts";

const EVERY_MS = 10_000;

export function useProblems() {
  return useQuery({ ...PROBLEM_LIST, refetchInterval: EVERY_MS });
}

/** The problems in the order in which they were first shown, new ones last: no row moves under the reader. */
export function useStillOrder(problems: readonly ProblemView[]): readonly ProblemView[] {
  const places = useRef(new Map<string, number>());
  for (const { id } of problems) if (!places.current.has(id)) places.current.set(id, places.current.size);
  const placeOf = ({ id }: ProblemView) => places.current.get(id) ?? 0;
  return problems.toSorted((one, other) => placeOf(one) - placeOf(other));
}
