import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, isStatus } from "./client.ts";
import type { SessionView } from "./contract.ts";
import { hasToken, keepToken } from "./memory-token.ts";
import { toSignIn } from "./queries.ts";

/** What is known of somebody whose receiver keeps no sessions: the token was right. */
const BY_TOKEN: SessionView = {
  who: "token",
  role: "operator",
  expires_at: null,
  environment: null,
  version: null,
  sandbox: true,
};

/** Who is signed in; null for nobody. */
export const SESSION = queryOptions({
  queryKey: ["session"],
  queryFn: async (): Promise<SessionView | null> => {
    try {
      return await api.session.get();
    } catch (error) {
      if (isStatus(error, 401)) return null;
      if (isStatus(error, 404)) return hasToken() ? BY_TOKEN : null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** Begins a session; the receiver's cookie holds it, where it has sessions. @throws AdminError 401 for a wrong token */
export async function beginSession(token: string): Promise<SessionView> {
  try {
    return await api.session.begin({ token });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    keepToken(token);
    return BY_TOKEN;
  }
}

export async function endSession(): Promise<void> {
  keepToken(undefined);
  await api.session.end().catch((error: unknown) => {
    // It had ended already.
    if (!isStatus(error, 401) && !isStatus(error, 404)) throw error;
  });
}

/** For the moment until the page has gone to the sign-in. */
const NOBODY: SessionView = { ...BY_TOKEN, who: "nobody", role: "viewer" };

/** Who is signed in, for the pages behind the sign-in; where the session has ended meanwhile, it is time to begin another. */
export function useSession(): SessionView {
  const { data } = useSuspenseQuery(SESSION);
  useEffect(() => {
    if (data === null) toSignIn();
  }, [data]);
  return data ?? NOBODY;
}

/** Whether to offer what changes something; the API refuses it all the same. */
export function useMayChange(): boolean {
  return useSession().role === "operator";
}
