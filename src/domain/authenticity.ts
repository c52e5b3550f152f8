/** Whether a callback with an outcome is authentic. */
type Authenticity =
  /** The outcome is possible only after the verification. */
  | "verified"
  /** The verification failed. */
  | "refused"
  /** The callback was refused before its verification. */
  | "unchecked"
  /** The outcome is possible before and after the verification, or without one. */
  | "unknown";

/** Every outcome of docs/errors.md, which a test checks: a new one must not be "Authentic" by default. */
export const AUTHENTICITY: Readonly<Record<string, Authenticity>> = {
  success: "verified",
  already_processed: "verified",
  accepted: "verified",
  accepted_failed: "verified",
  accepted_rejected: "verified",
  ignored: "verified",
  // Some are unsigned by the platform's design.
  handshake: "unknown",

  address_not_allowed: "unchecked",
  https_required: "unchecked",
  too_many_requests: "unchecked",
  not_found: "unchecked",
  method_not_allowed: "unchecked",
  body_consumed: "unchecked",
  body_too_large: "unchecked",
  content_encoding_unsupported: "unchecked",
  request_timeout: "unchecked",
  malformed_request: "unchecked",
  headers_too_large: "unchecked",
  keys_unavailable: "unchecked",
  prefetch_refused: "unchecked",

  endpoint_check: "unchecked",
  signature_missing: "refused",
  signature_repeated: "refused",
  signature_malformed: "refused",
  signature_mismatch: "refused",
  timestamp_missing: "refused",
  timestamp_stale: "refused",
  token_missing: "refused",
  token_repeated: "refused",
  token_mismatch: "refused",
  jwt_malformed: "refused",
  jwt_signature: "refused",
  jwt_claims: "refused",
  jwt_body_mismatch: "refused",
  state_unknown: "refused",
  state_of_another_browser: "refused",
  issuer_mismatch: "refused",

  body_not_utf8: "verified",
  body_not_json: "verified",
  body_too_deep: "verified",
  body_forbidden_key: "verified",
  body_not_object: "verified",
  body_malformed: "verified",
  body_undecryptable: "verified",
  event_id_invalid: "verified",
  event_type_missing: "verified",
  event_type_mismatch: "verified",
  event_type_unknown: "verified",
  event_invalid: "verified",
  event_too_old: "verified",
  rejected: "verified",
  handler_failed: "verified",
  handler_timed_out: "verified",
  result_invalid: "verified",
  process_ended: "verified",
  commit_failed: "verified",
  commit_unknown: "verified",
  event_in_progress: "verified",
  handler_busy: "verified",

  handshake_invalid: "unknown",
  redirect_invalid: "unknown",
  internal: "unknown",
  platform_unavailable: "unknown",
  handshake_failed: "unknown",
  store_unavailable: "unknown",
  overloaded: "unknown",
};

/** Whether the outcome is possible only for an authentic callback. */
export function isVerified(outcome: string): boolean {
  return AUTHENTICITY[outcome] === "verified";
}
