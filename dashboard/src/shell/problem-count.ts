import { queryOptions } from "@tanstack/react-query";
import { api } from "../client.ts";

const EVERY_MS = 15_000;

/** How many failures and deliveries need someone, for the number beside *Problems*. */
export const PROBLEM_COUNT = queryOptions({
  queryKey: ["overview", "problem-count"],
  queryFn: async () => {
    const { failures, notifications } = await api.overview("hour");
    return failures.exhausted + failures.rejected + notifications.dead;
  },
  refetchInterval: EVERY_MS,
  refetchOnWindowFocus: false,
});
