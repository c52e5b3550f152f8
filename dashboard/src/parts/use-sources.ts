import { useQuery } from "@tanstack/react-query";
import { api } from "../client.ts";

const EVERY_MS = 15_000;

/** The configured sources with their addresses and secrets. */
export function useSources() {
  return useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
}

/** The last hour of each source, read again as the overview is. */
export function useSourceHealth() {
  return useQuery({ queryKey: ["overview", "sources"], queryFn: api.sources.health, refetchInterval: EVERY_MS });
}
