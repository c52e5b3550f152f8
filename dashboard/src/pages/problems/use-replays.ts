import { type UseMutationResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { BulkReplayView } from "oncehook/admin-client";
import { useEffect, useRef } from "react";
import { api } from "../../client.ts";

const EVERY_MS = 10_000;
const RUNNING_EVERY_MS = 1_000;
const NEWEST = 100;

/** Starts a bulk replay; its variable is the most replays a second, the API's own where it is undefined. */
export type StartReplay = UseMutationResult<BulkReplayView, Error, number | undefined>;

export function useStartReplay(problem: string): StartReplay {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (perSecond) => api.bulkReplays.start({ filter: { problem }, per_second: perSecond }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["bulk-replays"] }),
  });
}

export function isRunning({ state }: BulkReplayView): boolean {
  return state === "running" || state === "paused";
}

/** The newest bulk replays; read often while one runs. */
export function useReplays() {
  const replays = useQuery({
    queryKey: ["bulk-replays", "newest"],
    queryFn: async () => (await api.bulkReplays.list({ limit: NEWEST })).items,
    refetchInterval: ({ state: { data } }) =>
      data?.some(({ state }) => state === "running") === true ? RUNNING_EVERY_MS : EVERY_MS,
  });
  useProblemsAfter(replays.data);
  return replays;
}

/** Replayed events leave their problems: these are read again when a replay has ended. */
function useProblemsAfter(replays: readonly BulkReplayView[] | undefined): void {
  const queries = useQueryClient();
  const ended = replays?.filter((replay) => !isRunning(replay)).map(({ id }) => id);
  const key = ended?.join();
  const before = useRef(key);
  useEffect(() => {
    if (before.current !== undefined && key !== before.current) {
      void queries.invalidateQueries({ queryKey: ["problems"] });
      void queries.invalidateQueries({ queryKey: ["overview"] });
    }
    before.current = key;
  }, [key, queries]);
}
