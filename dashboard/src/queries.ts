import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { isFinal, isStatus } from "./client.ts";
import { BASE_PATH, IS_IN_APPLICATION } from "./mount.ts";

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

export const SESSION_KEY = ["session"];

/**
 * The end of a session clears all data that was read in it. An application answers 403. The role may cause
 * that too, so the session is read again.
 */
function leaveWithoutSession(error: unknown): void {
  if (isStatus(error, 401)) toSignIn();
  if (IS_IN_APPLICATION && isStatus(error, 403)) void queries.invalidateQueries({ queryKey: SESSION_KEY });
}

/** To the server's sign-in. In an application there is none: the page without its data says so. */
export function toSignIn(): void {
  if (IS_IN_APPLICATION) {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
    return;
  }
  const { pathname, search } = window.location;
  const signIn = `${BASE_PATH}/sign-in`;
  if (pathname === signIn) return;
  window.location.assign(`${signIn}?${new URLSearchParams({ back: pathname + search })}`);
}
