import type { CallbackView } from "oncehook/admin-client";

/** Endings before anything was verified: docs/errors.md has them above the 401 ones. */
const UNCHECKED = new Set([
  "address_not_allowed",
  "https_required",
  "too_many_requests",
  "not_found",
  "method_not_allowed",
  "body_too_large",
  "content_encoding_unsupported",
  "request_timeout",
  "malformed_request",
  "headers_too_large",
  "keys_unavailable",
  "overloaded",
  "prefetch_refused",
]);

/** What is known of who sent it. */
export function verdictOf({
  outcome,
  response_status,
}: Pick<CallbackView, "outcome" | "response_status">): string {
  if (response_status === 401) return "Not authentic: it was refused, and nothing was done.";
  if (UNCHECKED.has(outcome)) return "Not checked: it was turned away before that.";
  return "Authentic: what it was signed or authenticated with is the platform's.";
}
