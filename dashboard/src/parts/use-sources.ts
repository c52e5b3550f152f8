import { useQuery } from "@tanstack/react-query";
import type { SourceHealthView } from "oncehook/admin-client";
import { api } from "../client.ts";

const EVERY_MS = 15_000;

/** The configured sources with their addresses and secrets. */
export function useSources() {
  return useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
}

const STATES: readonly SourceHealthView["state"][] = ["failing", "refusing", "silent", "ok", "idle"];

const byState = (one: SourceHealthView, other: SourceHealthView) =>
  STATES.indexOf(one.state) - STATES.indexOf(other.state);

/** The last hour of each source, read again as the overview is; those that need attention come first. */
export function useSourceHealth() {
  return useQuery({
    queryKey: ["overview", "sources"],
    queryFn: api.sources.health,
    select: ({ items }) => items.toSorted(byState),
    refetchInterval: EVERY_MS,
  });
}
