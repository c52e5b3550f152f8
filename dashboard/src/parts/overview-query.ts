import { queryOptions } from "@tanstack/react-query";
import type { OverviewView } from "oncehook/admin-client";
import { api } from "../client.ts";

export const OVERVIEW_EVERY_MS = 15_000;

/** The overview of a span. The page and the number beside *Problems* share one request. */
export const overviewQuery = (span: OverviewView["span"]) =>
  queryOptions({
    queryKey: ["overview", span],
    queryFn: async () => ({ read: await api.overview(span), readAt: Date.now() }),
    refetchInterval: OVERVIEW_EVERY_MS,
  });
