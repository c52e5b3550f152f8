import type { FailureView } from "oncehook/admin-client";

/** The states of a failure in words. */
export const FAILURE_TITLES: Readonly<Record<FailureView["state"], string>> = {
  accepted: "Accepted, not run yet",
  waiting: "Waiting for retry",
  exhausted: "Retries exhausted",
  rejected: "Rejected",
};
