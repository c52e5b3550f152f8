import { AUTHENTICATION_FAULTS, type FaultEntry } from "./authentication-faults.ts";

/**
 * Every way a callback can end other than in success, in one list. `status` is the HTTP answer (SPEC 7),
 * `message` what a stranger may read, `meaning` what an operator reads in `docs/errors.md`; a test holds that
 * page to this list in both directions. Endings that name a field carry a message of their own.
 */
export const FAULTS = {
  address_not_allowed: {
    status: 403,
    message: "address not allowed",
    meaning: "The remote address is not in `IP_ALLOW_LIST`.",
  },
  https_required: {
    status: 403,
    message: "HTTPS required",
    meaning:
      "The request came over plain HTTP, or through a proxy that is not in `TRUST_PROXY` or said `X-Forwarded-Proto: http`.",
  },
  too_many_requests: {
    status: 429,
    message: "too many requests",
    meaning:
      "A limit of `RATE_LIMIT_DEFAULT` or `RATE_LIMIT_CALLBACK` is used up for this address; `Retry-After` says for how long.",
  },
  not_found: {
    status: 404,
    message: "not found",
    meaning:
      "No such address. Compare it with the registered one: protocol, host and path must be identical.",
  },
  method_not_allowed: {
    status: 405,
    message: "method not allowed",
    meaning: "The address exists, the method is wrong; `Allow` names the right one.",
  },
  body_too_large: {
    status: 413,
    message: "body too large",
    meaning: "The body is longer than `MAX_BODY_BYTES`.",
  },
  content_encoding_unsupported: {
    status: 415,
    message: "content encoding not supported",
    meaning:
      "The body came compressed. The signature covers the bytes as sent, so only `identity` is accepted.",
  },
  request_timeout: {
    status: 408,
    message: "request timeout",
    meaning: "The request did not arrive in full within `REQUEST_TIMEOUT_MS`.",
  },
  malformed_request: {
    status: 400,
    message: "malformed request",
    meaning: "The bytes are not a valid HTTP request.",
  },
  headers_too_large: {
    status: 431,
    message: "headers too large",
    meaning: "The request's headers are longer than 16 KiB.",
  },
  ...AUTHENTICATION_FAULTS,
  body_not_utf8: {
    status: 400,
    message: "the body is not valid UTF-8 without a byte order mark",
    meaning: "The body holds invalid UTF-8 or begins with a byte order mark.",
  },
  body_not_json: {
    status: 400,
    message: "the body is not valid JSON",
    meaning: "The body does not parse as JSON.",
  },
  body_too_deep: {
    status: 400,
    message: "the body is nested more than 64 levels deep",
    meaning: "Arrays and objects nest deeper than 64 levels.",
  },
  body_forbidden_key: {
    status: 400,
    message: "the body holds a forbidden key",
    meaning: "A `__proto__` key, or `prototype` inside `constructor`.",
  },
  body_not_object: {
    status: 400,
    message: "the body is not a JSON object",
    meaning: "The body is JSON, but not an object.",
  },
  event_id_invalid: {
    status: 400,
    message: "event_id is not valid",
    meaning:
      "`event_id` is missing, empty, longer than 255 bytes, or holds control characters or lone surrogates.",
  },
  event_type_missing: {
    status: 400,
    message: "the event type is missing",
    meaning: "No `X-Event-Type` header, and no `event_type` in the body where `EVENT_TYPE_FROM` allows it.",
  },
  event_type_mismatch: {
    status: 400,
    message: "X-Event-Type and event_type disagree",
    meaning: "Header and body name different types and `REJECT_TYPE_MISMATCH` is on.",
  },
  event_type_unknown: {
    status: 400,
    message: "unknown event type",
    meaning:
      "No handler for this type in this version (SPEC 4.1 rule 3). `HANDLERS` may have switched it off.",
  },
  event_invalid: {
    status: 400,
    message: "the event is not valid",
    meaning: "A field of the envelope or of `data` is missing or of the wrong type; the message names it.",
  },
  event_too_old: {
    status: 400,
    message: "the event's timestamp is too old",
    meaning:
      "`RECORD_RETENTION_DAYS` is set and `timestamp` lies further back (or a day ahead): the record that would prove a duplicate may be gone.",
  },
  redirect_invalid: {
    status: 400,
    message: "the redirect is not valid",
    meaning: "An OAuth redirect without exactly one `code` and one `state`, or with an `error`.",
  },
  rejected: {
    status: 400,
    message: "rejected",
    meaning: "The handler threw `Rejected`; the message is its own. Such an event is not retried.",
  },
  handler_failed: {
    status: 500,
    message: "internal error",
    meaning: "The handler threw. The event waits in `failures` for its retry.",
  },
  handler_timed_out: {
    status: 500,
    message: "internal error",
    meaning: "The handler or its `prepare` ran past `HANDLER_TIMEOUT_MS`; what it wrote was rolled back.",
  },
  result_invalid: {
    status: 500,
    message: "internal error",
    meaning: "The handler returned something that is not a JSON object.",
  },
  process_ended: {
    status: 500,
    message: "internal error",
    meaning:
      "The process ended during an attempt that ran alone, by an uncaught error, an exit, an endless loop, too little memory or a kill. Find the cause before you replay it.",
  },
  commit_failed: {
    status: 500,
    message: "internal error",
    meaning:
      "The database refused COMMIT, where a constraint is checked only then, say; everything was rolled back. The event waits in `failures` for its retry.",
  },
  commit_unknown: {
    status: 500,
    message: "internal error",
    meaning:
      "COMMIT was sent and its answer was lost, so it may have happened. The retry, or a redelivery, finds out.",
  },
  internal: {
    status: 500,
    message: "internal error",
    meaning: "An unexpected error; the log has its stack.",
  },
  keys_unavailable: {
    status: 503,
    message: "temporarily unavailable",
    meaning:
      "The keys at `JWT_JWKS_URL` cannot be fetched, or the one that is named cannot be used (an RSA key below 2048 bits, say), so a JWT can be neither accepted nor refused.",
  },
  platform_unavailable: {
    status: 503,
    message: "temporarily unavailable",
    meaning: "The authorization server at `OAUTH_ISSUER` cannot be asked, so no OAuth flow can begin or end.",
  },
  prefetch_refused: {
    status: 503,
    message: "temporarily unavailable",
    meaning:
      "A browser fetched an OAuth address ahead of its user (`Sec-Purpose`); a code is never spent on that.",
  },
  store_unavailable: {
    status: 503,
    message: "temporarily unavailable",
    meaning: "The database could not be reached, or stayed busy, within the request's time.",
  },
  overloaded: {
    status: 503,
    message: "temporarily unavailable",
    meaning:
      "`MAX_WAITING_CALLBACKS` are at work or wait, or the body was the oldest unfinished one past `MAX_UNVERIFIED_BYTES`; retry after `Retry-After`.",
  },
  event_in_progress: {
    status: 503,
    message: "temporarily unavailable",
    meaning:
      "Another delivery of this event is still running; while its end is not known, neither success nor duplicate can be said.",
  },
} as const satisfies Record<string, FaultEntry>;

export type FaultCode = keyof typeof FAULTS;
