import { queryOptions } from "@tanstack/react-query";
import { api } from "../client.ts";

/** All problems: the page of them, and whatever asks for one of a source, share one request. */
export const PROBLEM_LIST = queryOptions({ queryKey: ["problems", "list"], queryFn: () => api.problems.list() });
