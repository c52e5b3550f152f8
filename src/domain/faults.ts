interface Fault {
  /** Of the response (SPEC 7). */
  readonly status: number;
  /** Any caller may read it. */
  readonly message: string;
}

/** Faults that a caller cannot tell apart. */
function faults<Code extends string>(status: number, message: string, ...codes: readonly Code[]) {
  return Object.fromEntries(codes.map((code) => [code, { status, message }])) as Record<Code, Fault>;
}

/**
 * Every outcome of a callback but success, in one list. An outcome that names a field has a specific message.
 * Each method of authentication has one message for all causes (SPEC 5). See docs/errors.md for their meanings.
 */
export const FAULTS = {
  ...faults(403, "address not allowed", "address_not_allowed"),
  ...faults(403, "HTTPS required", "https_required"),
  ...faults(429, "too many requests", "too_many_requests"),
  ...faults(404, "not found", "not_found"),
  ...faults(405, "method not allowed", "method_not_allowed"),
  ...faults(413, "body too large", "body_too_large"),
  ...faults(415, "content encoding not supported", "content_encoding_unsupported"),
  ...faults(408, "request timeout", "request_timeout"),
  ...faults(400, "malformed request", "malformed_request"),
  ...faults(431, "headers too large", "headers_too_large"),
  ...faults(
    401,
    "invalid signature",
    "signature_missing",
    "endpoint_check",
    "signature_repeated",
    "signature_malformed",
    "signature_mismatch",
    "timestamp_missing",
    "timestamp_stale",
  ),
  ...faults(
    401,
    "invalid token",
    "token_missing",
    "token_repeated",
    "token_mismatch",
    "jwt_malformed",
    "jwt_signature",
    "jwt_claims",
    "jwt_body_mismatch",
  ),
  ...faults(401, "invalid state", "state_unknown", "state_of_another_browser"),
  ...faults(401, "invalid issuer", "issuer_mismatch"),
  ...faults(400, "the body is not valid UTF-8", "body_not_utf8"),
  ...faults(400, "the body is not valid JSON", "body_not_json"),
  ...faults(400, "the body is nested more than 64 levels deep", "body_too_deep"),
  ...faults(400, "the body holds a forbidden key", "body_forbidden_key"),
  ...faults(400, "the body is not a JSON object", "body_not_object"),
  ...faults(400, "the body is not in its platform's format", "body_malformed"),
  ...faults(400, "the body cannot be decrypted", "body_undecryptable"),
  ...faults(400, "the handshake is not valid", "handshake_invalid"),
  ...faults(400, "event_id is not valid", "event_id_invalid"),
  ...faults(400, "the event type is missing", "event_type_missing"),
  ...faults(400, "X-Event-Type and event_type disagree", "event_type_mismatch"),
  ...faults(400, "unknown event type", "event_type_unknown"),
  ...faults(400, "the event is not valid", "event_invalid"),
  ...faults(400, "the event's timestamp is too old", "event_too_old"),
  ...faults(400, "the redirect is not valid", "redirect_invalid"),
  ...faults(400, "rejected", "rejected"),
  ...faults(
    500,
    "internal error",
    "handler_failed",
    "handler_timed_out",
    "result_invalid",
    "process_ended",
    "commit_failed",
    "commit_unknown",
    "body_consumed",
    "internal",
  ),
  ...faults(
    503,
    "temporarily unavailable",
    "handshake_failed",
    "keys_unavailable",
    "platform_unavailable",
    "prefetch_refused",
    "store_unavailable",
    "overloaded",
    "handler_busy",
    "event_in_progress",
  ),
};

export type FaultCode = keyof typeof FAULTS;

/** The HTTP status of a response, by its outcome's name (docs/errors.md): 200 for every outcome that is no fault. */
export function outcomeStatus(outcome: string): number {
  return FAULTS[outcome as FaultCode]?.status ?? 200;
}
