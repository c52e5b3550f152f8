import { type QueryClient, queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import type { SessionView } from "oncehook/admin-client";
import { useEffect } from "react";
import { api, isStatus } from "./client.ts";
import { IS_IN_APPLICATION } from "./mount.ts";
import { SESSION_KEY, toSignIn } from "./queries.ts";

/** The current session; null if not signed in. */
export const SESSION = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async (): Promise<SessionView | null> => {
    try {
      return await api.session.get();
    } catch (error) {
      if (isStatus(error, IS_IN_APPLICATION ? 403 : 401)) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** The current session; the last known one while the receiver does not respond, since the API checks each request itself. */
export async function sessionOf(queries: QueryClient): Promise<SessionView | null> {
  try {
    return await queries.query({ ...SESSION });
  } catch (error) {
    const lastSession = queries.getQueryData(SESSION.queryKey);
    if (lastSession === undefined) throw error;
    return lastSession;
  }
}

export async function endSession(): Promise<void> {
  await api.session.end().catch((error: unknown) => {
    // It had ended already.
    if (!isStatus(error, 401)) throw error;
  });
}

/** Shown until the sign-in page has opened. */
const SIGNED_OUT: SessionView = {
  actor: "none",
  role: "viewer",
  expires_at: null,
  environment: "",
  version: "",
  sandbox: false,
};

/** The session, for the pages behind the sign-in; one that has ended leads back to the sign-in. */
export function useSession(): SessionView {
  const { data } = useSuspenseQuery(SESSION);
  useEffect(() => {
    if (data === null) toSignIn();
  }, [data]);
  return data ?? SIGNED_OUT;
}

/** False once the session has ended. */
export function useIsSignedIn(): boolean {
  return useSuspenseQuery(SESSION).data !== null;
}

/** As operators read it. */
export function actorName(actor: string | null): string {
  return actor === "token" ? "Admin token" : (actor ?? "");
}

/** Whether to show buttons that change something; the API checks the role itself. */
export function useMayChange(): boolean {
  return useSession().role === "operator";
}
