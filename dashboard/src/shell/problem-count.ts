import { queryOptions } from "@tanstack/react-query";
import { api } from "../client.ts";

const EVERY_MS = 15_000;

/** How many problems are open, for the number beside *Problems*. */
export const PROBLEM_COUNT = queryOptions({
  queryKey: ["overview", "problem-count"],
  queryFn: async () => (await api.overview("hour")).problems.open,
  refetchInterval: EVERY_MS,
  refetchOnWindowFocus: false,
});
