import { useQuery } from "@tanstack/react-query";
import { api } from "../../client.ts";

const EVERY_MS = 2_000;

/** The rounds of background work, read again while they are shown. */
export function useBackground() {
  return useQuery({ queryKey: ["background"], queryFn: api.background, refetchInterval: EVERY_MS });
}
