import { outcomeStatus } from "oncehook/admin-client";

/** The colour of an outcome: red is ours, orange the sender's, green a success, grey all else. */
export type Tone = "success" | "refused" | "failed" | "quiet";

const QUIET = new Set(["accepted", "already_processed", "ignored", "handshake", "endpoint_check"]);

/** @param status the HTTP status that the platform got; the outcome's own where it is left out */
export function toneOf(outcome: string, status: number = outcomeStatus(outcome)): Tone {
  if (outcome === "success") return "success";
  if (QUIET.has(outcome)) return "quiet";
  // The platform got 200 before the handler ran.
  if (outcome === "accepted_failed") return "failed";
  if (outcome === "accepted_rejected") return "refused";
  return status >= 500 ? "failed" : "refused";
}

const ACRONYMS = /\b(?:https|json|jwt|utf8)\b/g;
const LABELS: Readonly<Record<string, string>> = {
  success: "handled",
  already_processed: "duplicate",
  accepted_failed: "accepted, failed",
  accepted_rejected: "accepted, rejected",
};

/** An outcome in words, as it stands in a sentence. */
export function outcomeLabel(outcome: string): string {
  return LABELS[outcome] ?? outcome.replaceAll("_", " ").replace(ACRONYMS, (word) => word.toUpperCase());
}

/** An outcome as a label: in a row or beside a number. */
export function outcomeTitle(outcome: string): string {
  return capitalised(outcomeLabel(outcome));
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
