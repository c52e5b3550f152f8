import type { ProblemView } from "oncehook/admin-client";
import { oneOf, picked, type Raw } from "../../search.ts";

export const KINDS = ["failure", "refusal", "delivery"] as const satisfies readonly ProblemView["kind"][];
export const STATES = ["open", "muted", "resolved"] as const satisfies readonly ProblemView["state"][];
export const FAILURE_STATES = ["waiting", "exhausted", "rejected"] as const;

/** The query of the page. */
export interface ProblemSearch {
  /** Open and muted ones where it is left out. */
  readonly state?: ProblemView["state"] | undefined;
  readonly kind?: ProblemView["kind"] | undefined;
  readonly source?: string | undefined;
  readonly event_type?: string | undefined;
  readonly code?: string | undefined;
  /** Problems that have failures in this state. */
  readonly failure_state?: (typeof FAILURE_STATES)[number] | undefined;
}

export function problemSearch(raw: Raw): ProblemSearch {
  const choices = {
    state: oneOf(raw.state, STATES),
    kind: oneOf(raw.kind, KINDS),
    failure_state: oneOf(raw.failure_state, FAILURE_STATES),
  };
  const chosen = Object.entries(choices).filter(([, value]) => value !== undefined);
  return { ...picked(raw, ["source", "event_type", "code"] as const), ...Object.fromEntries(chosen) };
}

/** Whether a problem matches all filters but that of its state. */
export function isOfFilters(problem: ProblemView, search: ProblemSearch): boolean {
  const { kind, source, event_type, code, failure_state } = search;
  return (
    (kind ?? problem.kind) === problem.kind &&
    (source ?? problem.source) === problem.source &&
    (event_type ?? problem.event_type) === problem.event_type &&
    (code ?? problem.code) === problem.code &&
    (failure_state === undefined || (problem.states[failure_state] ?? 0) > 0)
  );
}

export function isOfState({ state }: ProblemView, wanted: ProblemSearch["state"]): boolean {
  return wanted === undefined ? state !== "resolved" : state === wanted;
}

/** The query of an earlier address, `/failures`. */
export function searchOfFailures(raw: Raw): ProblemSearch {
  return { ...problemSearch({ ...raw, state: undefined, failure_state: raw.state }), kind: "failure" };
}
