import { queryOptions } from "@tanstack/react-query";
import { overviewQuery } from "../parts/overview-query.ts";

/** How many problems are open, for the number beside *Problems*. */
export const PROBLEM_COUNT = queryOptions({
  ...overviewQuery("hour"),
  refetchOnWindowFocus: false,
  select: ({ read }) => read.problems.open,
});
