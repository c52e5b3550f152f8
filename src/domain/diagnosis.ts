/**
 * The remedy for each reason why a callback was not authentic, in one list; `docs/errors.md` says what each code means.
 * Of several findings the first in this order gives a diagnosis its code: the deepest cause.
 */
export const REMEDIES = {
  truncated: "Look for a body limit in a proxy, and for a redirect, which turns a POST into a GET.",
  body_changed: "Let gateways, functions and proxies pass the bytes on unchanged; sign the bytes that are sent.",
  other_content:
    "Have the platform sign the raw body alone. If its scheme is fixed, set `AUTH_METHOD` to token or jwt, or use an adapter that re-signs.",
  previous_secret: "Set it as `SIGNING_SECRET_PREVIOUS` for a rotation, or enter the new one at the platform.",
  other_environment: "At the platform, give each environment an address and a secret of its own.",
  secret_format: "Make both sides equal: the UTF-8 bytes of `SIGNING_SECRET` are the key, without decoding.",
  unknown:
    "Compare the secret with the platform's; `oncehook sign` prints a file's signature. If the caller is not your platform, ignore this.",
  other_header: "Have the platform send it in `X-Signature`, or let a proxy copy the header.",
  repeated: "Send it once; look for a proxy that adds a header of its own.",
  prefix: "Send the 64 digits alone.",
  encoding: "Send it as 64 lowercase hexadecimal digits.",
  malformed: "Send the HMAC-SHA256 of the raw body as 64 lowercase hexadecimal digits.",
  missing:
    "Turn signing on at the platform, and let proxies pass the header on. If the caller is not your platform, ignore this.",
  timestamp:
    "Set both clocks (NTP). Send whole seconds since 1970. If redeliveries keep the first timestamp, raise `SIGNATURE_TOLERANCE_SECONDS`.",
  token_mismatch:
    "Compare it with the platform's, and send it alone; use `Bearer` in `Authorization` only. Set a former token as `CALLBACK_TOKEN_PREVIOUS`.",
  jwt_malformed: "Send three parts of base64url joined by dots, signed with `JWT_ALGORITHM`.",
  jwt_signature:
    "Compare `JWT_SECRET`, `JWT_PUBLIC_KEY_FILE` or `JWT_JWKS_URL` with the platform's key. The platform must publish a key before it uses it.",
  jwt_claims:
    "`iss` and `aud` must equal `JWT_ISSUER` and `JWT_AUDIENCE`. For `exp` and `nbf`, set both clocks (NTP). `JWT_BODY_CLAIM` must exist.",
} as const satisfies Record<string, string>;

export type DiagnosisCode = keyof typeof REMEDIES;

/** Why a callback was not authentic, for an operator; it holds nothing that was computed with a secret. */
export interface Diagnosis {
  readonly code: DiagnosisCode;
  readonly message: string;
  readonly remedy: string;
  /** Whether a secret or key that is known here made the signature or token: no other sender made it then. */
  readonly confirmed: boolean;
}

export type Finding = Pick<Diagnosis, "code" | "message">;

const PRECEDENCE = Object.keys(REMEDIES) as DiagnosisCode[];

/** The remedies of a source, where they differ from those of `REMEDIES` for the built-in protocol. */
export type Remedies = Partial<Record<DiagnosisCode, string>>;

/** All findings as one diagnosis, with the code of the deepest cause and the remedies of all. */
export function diagnosisOf(found: readonly Finding[], confirmed = false, remedies: Remedies = {}): Diagnosis {
  const codes = PRECEDENCE.filter((code) => found.some((finding) => finding.code === code));
  const [code] = codes;
  if (code === undefined) throw new TypeError("a diagnosis needs a finding");
  return {
    code,
    message: found.map(({ message }) => message).join(" "),
    remedy: codes.map((code) => remedies[code] ?? REMEDIES[code]).join(" "),
    confirmed,
  };
}
