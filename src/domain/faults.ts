interface Fault {
  /** The HTTP answer (SPEC 7). */
  readonly status: number;
  /** What a stranger may read. */
  readonly message: string;
  /** What an operator reads in `docs/errors.md`; a test holds that page to this list in both directions. */
  readonly meaning: string;
}

/** Faults that a stranger cannot tell apart, with their meanings. */
function faults<Code extends string>(status: number, message: string, meanings: Record<Code, string>) {
  const entries = Object.entries<string>(meanings).map(([code, meaning]) => [
    code,
    { status, message, meaning },
  ]);
  return Object.fromEntries(entries) as Record<Code, Fault>;
}

/**
 * Every way a callback can end other than in success, in one list. Endings that name a field carry a message of their own.
 * Each method of authentication has one message for all causes (SPEC 5).
 */
export const FAULTS = {
  ...faults(403, "address not allowed", {
    address_not_allowed:
      "The remote address is not in `IP_ALLOW_LIST`, or not among the `addresses` of its source.",
  }),
  ...faults(403, "HTTPS required", {
    https_required:
      "The request came over plain HTTP, or through a proxy that is not in `TRUST_PROXY` or said `X-Forwarded-Proto: http`.",
  }),
  ...faults(429, "too many requests", {
    too_many_requests:
      "`RATE_LIMIT_DEFAULT`, `RATE_LIMIT_CALLBACK` or the source's `rate` is used up for this address; `Retry-After` says for how long.",
  }),
  ...faults(404, "not found", {
    not_found:
      "No such address. Compare it with the registered one: protocol, host and path must be identical.",
  }),
  ...faults(405, "method not allowed", {
    method_not_allowed: "The address exists, the method is wrong; `Allow` names the right one.",
  }),
  ...faults(413, "body too large", {
    body_too_large:
      "The body is longer than `MAX_BODY_BYTES`, or than what its source takes (`maxBodyBytes`).",
  }),
  ...faults(415, "content encoding not supported", {
    content_encoding_unsupported:
      "The body came compressed. Only `identity` is accepted, and `gzip` at the addresses of platforms that sign compressed bytes.",
  }),
  ...faults(408, "request timeout", {
    request_timeout: "The request did not arrive in full within `REQUEST_TIMEOUT_MS`.",
  }),
  ...faults(400, "malformed request", {
    malformed_request:
      "The bytes are not a valid HTTP request, or the client left before its body was complete.",
  }),
  ...faults(431, "headers too large", { headers_too_large: "The request's headers are longer than 16 KiB." }),
  ...faults(401, "invalid signature", {
    signature_missing: "There is no `X-Signature` header.",
    endpoint_check:
      "The receiver's own check of a registered address (`oncehook sources --check`), answered as any callback without a credential. It is not counted as refused.",
    signature_repeated: "`X-Signature` stands in the request more than once.",
    signature_malformed:
      "`X-Signature` is not 64 lowercase hexadecimal digits. Look for a prefix such as `sha256=`, upper case, or base64.",
    signature_mismatch:
      "The digest differs: another secret, another environment, or a body that was changed on the way.",
    timestamp_missing:
      "`SIGNATURE_TOLERANCE_SECONDS` is set and `X-Timestamp` is missing, repeated or not whole seconds.",
    timestamp_stale:
      "`X-Timestamp` lies outside `SIGNATURE_TOLERANCE_SECONDS`: a late or replayed request, or a clock that is off.",
  }),
  ...faults(401, "invalid token", {
    token_missing:
      "The header that carries the token (`CALLBACK_TOKEN_HEADER`, `JWT_HEADER`) is missing, or not `Bearer <token>` in `Authorization`.",
    token_repeated: "The header that carries the token stands in the request more than once.",
    token_mismatch:
      "The token is none of `CALLBACK_TOKEN` and `CALLBACK_TOKEN_PREVIOUS`, or the verify token of a handshake is another.",
    jwt_malformed:
      "The JWT is not one: its parts, its header, or an algorithm other than `JWT_ALGORITHM`. The log says which.",
    jwt_signature: "No configured key made the JWT's signature, or its `kid` names none of them.",
    jwt_claims:
      "A claim of the JWT is missing or does not fit: `iss`, `aud`, `exp`, `nbf` or `JWT_BODY_CLAIM`. The log names it.",
    jwt_body_mismatch:
      "The hash in `JWT_BODY_CLAIM` is not the body's: the body was changed, or the token belongs to another one.",
  }),
  ...faults(401, "invalid state", {
    state_unknown:
      "An OAuth redirect that is neither signed nor carries a state that was registered and has not expired.",
    state_of_another_browser:
      "The OAuth flow was started in another browser, or the browser keeps no cookies. Start it again at `oauth-start`.",
  }),
  ...faults(401, "invalid issuer", {
    issuer_mismatch:
      "`iss` of an OAuth redirect is not `OAUTH_ISSUER`, or is missing although the platform promises it (RFC 9207).",
  }),
  ...faults(400, "the body is not valid UTF-8", {
    body_not_utf8: "The body holds invalid UTF-8.",
  }),
  ...faults(400, "the body is not valid JSON", { body_not_json: "The body does not parse as JSON." }),
  ...faults(400, "the body is nested more than 64 levels deep", {
    body_too_deep: "Arrays and objects nest deeper than 64 levels.",
  }),
  ...faults(400, "the body holds a forbidden key", {
    body_forbidden_key: "A `__proto__` key, or `prototype` inside `constructor`.",
  }),
  ...faults(400, "the body is not a JSON object", {
    body_not_object: "The body is JSON, but not an object.",
  }),
  ...faults(400, "the body is not in its platform's format", {
    body_malformed:
      "The body is not the form, multipart form, JWS or gzip that its source's platform sends, or a batch holds more than 10,000 events; the message says which.",
  }),
  ...faults(400, "the body cannot be decrypted", {
    body_undecryptable:
      "The callback is authentic, and no configured key decrypts its encrypted part, or the plain text is not the JSON that its platform encrypts. Compare the key with the platform's page; the log says what was tried.",
  }),
  ...faults(400, "the handshake is not valid", {
    handshake_invalid:
      "A platform's challenge is too long, holds characters that none has, names a foreign address, or comes for a secret that is known already; the message says which.",
  }),
  ...faults(400, "event_id is not valid", {
    event_id_invalid:
      "`event_id`, or where another platform has its id, is missing, empty, longer than 255 bytes, or holds control characters or lone surrogates.",
  }),
  ...faults(400, "the event type is missing", {
    event_type_missing:
      "No `X-Event-Type` header, and no `event_type` in the body where `EVENT_TYPE_FROM` allows it; or none where another platform has its type.",
  }),
  ...faults(400, "X-Event-Type and event_type disagree", {
    event_type_mismatch: "Header and body name different types and `REJECT_TYPE_MISMATCH` is on.",
  }),
  ...faults(400, "unknown event type", {
    event_type_unknown:
      "No handler for this type in this version (SPEC 4.1 rule 3). `HANDLERS` may have switched it off.",
  }),
  ...faults(400, "the event is not valid", {
    event_invalid:
      "A field of the envelope or of `data` is missing or of the wrong type; the message names it.",
  }),
  ...faults(400, "the event's timestamp is too old", {
    event_too_old:
      "`RECORD_RETENTION_DAYS` is set and `timestamp` lies further back (or a day ahead): the record that would prove a duplicate may be gone.",
  }),
  ...faults(400, "the redirect is not valid", {
    redirect_invalid: "An OAuth redirect without exactly one `code` and one `state`, or with an `error`.",
  }),
  ...faults(400, "rejected", {
    rejected:
      "The handler threw `Rejected`; the message is its own. The event is kept as `rejected`, and no retry is automatic.",
  }),
  ...faults(500, "internal error", {
    handler_failed: "The handler threw. The event waits in `failures` for its retry.",
    handler_timed_out:
      "The handler or its `prepare` ran past `HANDLER_TIMEOUT_MS`; what it wrote was rolled back.",
    result_invalid: "The handler returned something that is not a JSON object.",
    process_ended:
      "The process ended during an attempt that ran alone, by an uncaught error, an exit, an endless loop, too little memory or a kill. Find the cause before you replay it.",
    commit_failed:
      "The database refused COMMIT, where a constraint is checked only then, say; everything was rolled back. The event waits in `failures` for its retry.",
    commit_unknown:
      "COMMIT was sent and its answer was lost, so it may have happened. The retry, or a redelivery, finds out.",
    internal: "An unexpected error; the log has its stack.",
  }),
  ...faults(503, "temporarily unavailable", {
    handshake_failed:
      "The platform's check of this address could not be answered: an address that it names could not be visited, or a secret that it gave could not be stored. The log has the cause.",
    keys_unavailable:
      "The keys at `JWT_JWKS_URL` cannot be fetched, or the one that is named cannot be used (an RSA key below 2048 bits, say), so a JWT can be neither accepted nor refused. Or the bodies that wait for these keys hold half of `MAX_UNVERIFIED_BYTES` already.",
    platform_unavailable:
      "The authorization server at `OAUTH_ISSUER` cannot be asked, so no OAuth flow can begin or end.",
    prefetch_refused:
      "A browser fetched an OAuth address ahead of its user (`Sec-Purpose`), or the start of a flow for a part of a page (`Sec-Fetch-Dest`); a code is never spent on that.",
    store_unavailable: "The database could not be reached, or stayed busy, within the request's time.",
    overloaded:
      "`MAX_WAITING_CALLBACKS` are at work or wait, or the body was the oldest unfinished one past `MAX_UNVERIFIED_BYTES`, or unfinished at a stop; retry after `Retry-After`.",
    handler_busy:
      "The `concurrency` runs of a handler, or an earlier event with the same `orderBy`, were at work until the deadline.",
    event_in_progress:
      "Another delivery of this event is still running; while its end is not known, neither success nor duplicate can be said.",
  }),
};

export type FaultCode = keyof typeof FAULTS;
