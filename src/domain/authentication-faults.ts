export interface FaultEntry {
  readonly status: number;
  readonly message: string;
  readonly meaning: string;
}

/** The endings of requests that are not authentic (SPEC 5): one message for all causes of a method. */
export const AUTHENTICATION_FAULTS = {
  signature_missing: {
    status: 401,
    message: "invalid signature",
    meaning: "There is no `X-Signature` header.",
  },
  endpoint_check: {
    status: 401,
    message: "invalid signature",
    meaning:
      "The receiver's own check of a registered address (`oncehook sources --check`), answered as any callback without a credential. It is not counted as refused.",
  },
  signature_repeated: {
    status: 401,
    message: "invalid signature",
    meaning: "`X-Signature` stands in the request more than once.",
  },
  signature_malformed: {
    status: 401,
    message: "invalid signature",
    meaning:
      "`X-Signature` is not 64 lowercase hexadecimal digits. Look for a prefix such as `sha256=`, upper case, or base64.",
  },
  signature_mismatch: {
    status: 401,
    message: "invalid signature",
    meaning:
      "The digest differs: another secret, another environment, or a body that was changed on the way.",
  },
  timestamp_missing: {
    status: 401,
    message: "invalid signature",
    meaning:
      "`SIGNATURE_TOLERANCE_SECONDS` is set and `X-Timestamp` is missing, repeated or not whole seconds.",
  },
  timestamp_stale: {
    status: 401,
    message: "invalid signature",
    meaning:
      "`X-Timestamp` lies outside `SIGNATURE_TOLERANCE_SECONDS`: a late or replayed request, or a clock that is off.",
  },
  token_missing: {
    status: 401,
    message: "invalid token",
    meaning:
      "The header that carries the token (`CALLBACK_TOKEN_HEADER`, `JWT_HEADER`) is missing, or not `Bearer <token>` in `Authorization`.",
  },
  token_repeated: {
    status: 401,
    message: "invalid token",
    meaning: "The header that carries the token stands in the request more than once.",
  },
  token_mismatch: {
    status: 401,
    message: "invalid token",
    meaning: "The token is none of `CALLBACK_TOKEN` and `CALLBACK_TOKEN_PREVIOUS`.",
  },
  jwt_malformed: {
    status: 401,
    message: "invalid token",
    meaning:
      "The JWT is not one: its parts, its header, or an algorithm other than `JWT_ALGORITHM`. The log says which.",
  },
  jwt_signature: {
    status: 401,
    message: "invalid token",
    meaning: "No configured key made the JWT's signature, or its `kid` names none of them.",
  },
  jwt_claims: {
    status: 401,
    message: "invalid token",
    meaning:
      "A claim of the JWT is missing or does not fit: `iss`, `aud`, `exp`, `nbf` or `JWT_BODY_CLAIM`. The log names it.",
  },
  jwt_body_mismatch: {
    status: 401,
    message: "invalid token",
    meaning:
      "The hash in `JWT_BODY_CLAIM` is not the body's: the body was changed, or the token belongs to another one.",
  },
  state_unknown: {
    status: 401,
    message: "invalid state",
    meaning:
      "An OAuth redirect that is neither signed nor carries a state that was registered and has not expired.",
  },
  state_of_another_browser: {
    status: 401,
    message: "invalid state",
    meaning:
      "The OAuth flow was started in another browser, or the browser keeps no cookies. Start it again at `oauth-start`.",
  },
  issuer_mismatch: {
    status: 401,
    message: "invalid issuer",
    meaning:
      "`iss` of an OAuth redirect is not `OAUTH_ISSUER`, or is missing although the platform promises it (RFC 9207).",
  },
} as const satisfies Record<string, FaultEntry>;
