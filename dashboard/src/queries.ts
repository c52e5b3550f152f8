import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { isFinal, isStatus } from "./client.ts";

const RETRIES = 2;

/** The data that the pages have read, so that going back shows it at once. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: leaveWithoutSession }),
  mutationCache: new MutationCache({ onError: leaveWithoutSession }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => !isFinal(error) && count < RETRIES,
      // A browser without the internet may still reach a receiver in its network.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

/** The end of a session clears all data that was read in it. */
function leaveWithoutSession(error: unknown): void {
  if (isStatus(error, 401)) toSignIn();
}

export function toSignIn(): void {
  const { pathname, search } = window.location;
  if (pathname === "/sign-in") return;
  window.location.assign(`/sign-in?${new URLSearchParams({ back: pathname + search })}`);
}
