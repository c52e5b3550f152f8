/**
 * Why a callback was not authentic, in one list; `docs/refused.md` has the same table. Of several findings the first in this
 * order gives a diagnosis its code: the deepest cause.
 */
export const DIAGNOSES = {
  truncated: {
    meaning: "The body is empty or ends inside its JSON, so that no signature can match.",
    remedy: "Look for a body limit in a proxy, and for a redirect, which turns a POST into a GET.",
  },
  body_changed: {
    meaning: "The body was changed after it was signed: JSON layout, line breaks, byte order mark.",
    remedy: "Let gateways, functions and proxies pass the bytes on unchanged; sign the bytes that are sent.",
  },
  other_content: {
    meaning: "The signature is correct, but covers the body joined with a timestamp or an id.",
    remedy:
      "Have the platform sign the raw body alone. If its scheme is fixed, set `AUTH_METHOD` to token or jwt, or use an adapter that re-signs.",
  },
  previous_secret: {
    meaning: "The platform signs with a former secret of this environment.",
    remedy: "Set it as `SIGNING_SECRET_PREVIOUS` for a rotation, or enter the new one at the platform.",
  },
  other_environment: {
    meaning: "The signature was made with the secret of another environment.",
    remedy: "At the platform, give each environment an address and a secret of its own.",
  },
  secret_format: {
    meaning: "The platform signs with the same secret in another format, such as decoded or quoted.",
    remedy: "Make both sides equal: the UTF-8 bytes of `SIGNING_SECRET` are the key, without decoding.",
  },
  unknown: {
    meaning: "The signature matches no known secret, with none of the changes that were tried.",
    remedy:
      "Compare the secret with the platform's; `oncehook sign` prints a file's signature. If the caller is not your platform, ignore this.",
  },
  other_header: {
    meaning: "The request has no `X-Signature`; its signature is in another header.",
    remedy: "Have the platform send it in `X-Signature`, or let a proxy copy the header.",
  },
  repeated: {
    meaning: "The header of the signature or token is repeated, or holds several signatures.",
    remedy: "Send it once; look for a proxy that adds a header of its own.",
  },
  prefix: {
    meaning: "Other text surrounds the signature, such as `sha256=` or `t=…,v1=`.",
    remedy: "Send the 64 digits alone.",
  },
  encoding: {
    meaning: "The signature is in base64 or upper-case hexadecimal.",
    remedy: "Send it as 64 lowercase hexadecimal digits.",
  },
  malformed: {
    meaning: "The header holds no SHA-256 digest: it was cut, or is another algorithm's.",
    remedy: "Send the HMAC-SHA256 of the raw body as 64 lowercase hexadecimal digits.",
  },
  missing: {
    meaning: "The request has no signature or token, or its header is empty.",
    remedy:
      "Turn signing on at the platform, and let proxies pass the header on. If the caller is not your platform, ignore this.",
  },
  timestamp: {
    meaning: "The signature is correct, but `X-Timestamp` is too old or new, missing or malformed.",
    remedy:
      "Set both clocks (NTP). Send whole seconds since 1970. If redeliveries keep the first timestamp, raise `SIGNATURE_TOLERANCE_SECONDS`.",
  },
  token_mismatch: {
    meaning: "The token is another one, or has quotes, white space or `Bearer` around it.",
    remedy:
      "Compare it with the platform's, and send it alone; use `Bearer` in `Authorization` only. Set a former token as `CALLBACK_TOKEN_PREVIOUS`.",
  },
  jwt_malformed: {
    meaning: "The token is not a compact JWT, or names another algorithm than `JWT_ALGORITHM`.",
    remedy: "Send three parts of base64url joined by dots, signed with `JWT_ALGORITHM`.",
  },
  jwt_signature: {
    meaning: "No configured key made the JWT's signature, or its `kid` names none of them.",
    remedy:
      "Compare `JWT_SECRET`, `JWT_PUBLIC_KEY_FILE` or `JWT_JWKS_URL` with the platform's key. The platform must publish a key before it uses it.",
  },
  jwt_claims: {
    meaning: "The JWT's key is known, but a claim is missing, expired, not valid yet or unexpected.",
    remedy:
      "`iss` and `aud` must equal `JWT_ISSUER` and `JWT_AUDIENCE`. For `exp` and `nbf`, set both clocks (NTP). `JWT_BODY_CLAIM` must exist.",
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

export type DiagnosisCode = keyof typeof DIAGNOSES;

/** Why a callback was not authentic, for an operator; it holds nothing that was computed with a secret. */
export interface Diagnosis {
  readonly code: DiagnosisCode;
  readonly message: string;
  readonly remedy: string;
  /** Whether a secret or key that is known here made the signature or token, so that no stranger sent it. */
  readonly confirmed: boolean;
}

export interface Finding {
  readonly code: DiagnosisCode;
  readonly message: string;
}

const PRECEDENCE = Object.keys(DIAGNOSES) as DiagnosisCode[];

/** What to do about each code, where that is not what `DIAGNOSES` says of the specification's platform. */
export type Remedies = Partial<Record<DiagnosisCode, string>>;

/** All findings as one diagnosis, with the code of the deepest cause and the remedies of all. */
export function diagnosisOf(
  found: readonly Finding[],
  confirmed = false,
  remedies: Remedies = {},
): Diagnosis {
  const codes = PRECEDENCE.filter((code) => found.some((finding) => finding.code === code));
  const [code] = codes;
  if (code === undefined) throw new TypeError("a diagnosis needs a finding");
  return {
    code,
    message: found.map(({ message }) => message).join(" "),
    remedy: codes.map((code) => remedies[code] ?? DIAGNOSES[code].remedy).join(" "),
    confirmed,
  };
}
