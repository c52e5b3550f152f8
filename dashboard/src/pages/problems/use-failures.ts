import { useQuery } from "@tanstack/react-query";
import { api } from "../../client.ts";

const MOST = 100;
const EVERY_MS = 10_000;

/** The newest failures of a problem, with their attempts and their next retries. */
export function useFailures(id: string, isEnabled = true) {
  return useQuery({
    queryKey: ["problems", "failures", id],
    queryFn: async () => (await api.failures.list({ problem: id, limit: MOST })).items,
    enabled: isEnabled,
    refetchInterval: EVERY_MS,
  });
}
