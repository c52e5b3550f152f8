import { useMutation } from "@tanstack/react-query";
import { BASE_PATH } from "./mount.ts";
import { endSession } from "./session.ts";

/** Ends the session. A full page load follows: the data of the session leaves the memory. */
export function useSignOut() {
  return useMutation({
    mutationFn: endSession,
    onSuccess: () => window.location.assign(`${BASE_PATH}/sign-in`),
  });
}
