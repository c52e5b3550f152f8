interface DiagnosisEntry {
  readonly meaning: string;
  readonly remedy: string;
}

/**
 * Why a callback was not authentic, as far as it can be told, in one list. `docs/refused.md` has the same table, and a test
 * holds the two together. Of several causes the first in this order gives a diagnosis its code: what lies deepest.
 */
const SIGNATURE_DIAGNOSES = {
  truncated: {
    meaning:
      "The body breaks off in the middle of its JSON: it was cut on the way, and no signature can fit.",
    remedy: "Look for what cuts it: a limit on bodies in a proxy or gateway, or a buffer that is too small.",
  },
  empty_body: {
    meaning:
      "The body is empty, and the signature is not that of an empty one: the body was lost on the way.",
    remedy:
      "Look for a redirect, which turns a POST into a GET, and for a proxy that reads the body and does not pass it on.",
  },
  reserialised: {
    meaning:
      "The signature fits the same content in another writing: the body was parsed and written anew on the way, or the platform signs one text and sends another.",
    remedy:
      "Let gateways, functions and proxies in between pass the bytes on as they came; the platform must sign the very bytes that it sends.",
  },
  converted: {
    meaning:
      "The body was decoded or encoded on the way: as a form, as base64, as a text in another character set, with HTML entities.",
    remedy:
      "Let what stands in between treat the body as binary, with `Content-Type: application/json`; the platform must sign the UTF-8 bytes that it sends.",
  },
  other_content: {
    meaning:
      "The signature is right and covers something else than the body alone: a timestamp, an id, the address, a hash, a part of the body.",
    remedy:
      "Have the platform sign the raw body and nothing else; where its scheme is fixed, authenticate by token or JWT (`AUTH_METHOD`), or let an adapter in front check it and sign anew.",
  },
  previous_secret: {
    meaning: "The platform signs with a former secret of this environment, which is accepted no more.",
    remedy:
      "Set it as `SIGNING_SECRET_PREVIOUS` until the platform signs with the new one, or enter the new one at the platform.",
  },
  other_environment: {
    meaning: "The signature was made with the secret of another environment.",
    remedy:
      "At the platform, give each environment its own address and its own secret. Do not accept the other secret here.",
  },
  secret_spelling: {
    meaning:
      "The platform signs with the same secret in another spelling: with a line break, a space or quotes around it, decoded from hexadecimal or base64, with or without `whsec_`.",
    remedy:
      "Make the two sides the same: here the UTF-8 bytes of `SIGNING_SECRET` are the key, as they stand, undecoded.",
  },
  not_hmac: {
    meaning: "The signature is a hash without a key, or of secret and body put together, and no HMAC.",
    remedy:
      "Have the platform make an HMAC-SHA256 (RFC 2104) of the body with the secret as its key; a plain hash can be forged.",
  },
  algorithm: {
    meaning: "The signature was made by another algorithm than HMAC-SHA256.",
    remedy: "Have the platform use HMAC-SHA256, whose digest is 64 hexadecimal digits.",
  },
  unknown: {
    meaning:
      "The signature fits no known secret, neither with the body as it came nor with the changes that were tried.",
    remedy:
      "Compare the secret here with the one at the platform; `oncehook sign` prints the right signature of a file. Where it is not the platform who calls, there is nothing to do.",
  },
  other_header: {
    meaning: "There is no `X-Signature`; the signature stands in another header.",
    remedy: "Have the platform send it in `X-Signature`, or let the proxy copy the header.",
  },
  repeated: {
    meaning: "`X-Signature` stands in the request more than once.",
    remedy: "Send it once; look for a proxy that adds a header of its own.",
  },
  prefix: {
    meaning: "Something stands before the digits of the signature, such as `sha256=` or `t=…,v1=`.",
    remedy: "Send the 64 digits alone.",
  },
  encoding: {
    meaning:
      "The signature is not written in lowercase hexadecimal: base64, base64url, upper case, quotes, white space.",
    remedy: "Send it as 64 lowercase hexadecimal digits.",
  },
  malformed: {
    meaning: "What stands in the header is no digest, in no writing that is known.",
    remedy: "Send the HMAC-SHA256 of the raw body as 64 lowercase hexadecimal digits.",
  },
  empty: {
    meaning: "`X-Signature` is there, and empty.",
    remedy: "See whether a secret is entered at the platform: without one there is nothing to sign with.",
  },
  missing: {
    meaning: "There is no `X-Signature`, nor another header that is known to carry a signature.",
    remedy:
      "Switch signing on at the platform, and let proxies pass `X-Signature` on. Where it is not the platform who calls, there is nothing to do.",
  },
  stale: {
    meaning: "The signature is right; `X-Timestamp` lies outside `SIGNATURE_TOLERANCE_SECONDS`.",
    remedy:
      "Set the clocks of both sides (NTP); where the platform redelivers with its first timestamp, raise `SIGNATURE_TOLERANCE_SECONDS` or switch it off.",
  },
  timestamp: {
    meaning: "The signature is right; `X-Timestamp` is missing, repeated, or not whole seconds.",
    remedy:
      "Have the platform send whole seconds since 1970, once, or set `SIGNATURE_TOLERANCE_SECONDS=off`.",
  },
} as const satisfies Record<string, DiagnosisEntry>;

const TOKEN_DIAGNOSES = {
  token_missing: {
    meaning: "The header that carries the token is missing, or is `Authorization` without `Bearer <token>`.",
    remedy:
      "Have the platform send the token in `CALLBACK_TOKEN_HEADER` or `JWT_HEADER`; see whether a proxy takes `Authorization` for itself.",
  },
  token_repeated: {
    meaning: "The header that carries the token stands in the request more than once.",
    remedy: "Send it once; look for a proxy that adds a header of its own.",
  },
  token_spelling: {
    meaning: "The token is right but for what stands around it: `Bearer`, quotes, white space.",
    remedy: "Send the token alone; only in `Authorization` does `Bearer` stand before it.",
  },
  token_mismatch: {
    meaning: "The token is another one.",
    remedy:
      "Compare it with the one at the platform; while it is being rotated, the former one belongs into `CALLBACK_TOKEN_PREVIOUS`.",
  },
  jwt_malformed: {
    meaning: "What came is no JWT. Its parts, their encoding or its header are wrong.",
    remedy: "Send the compact form: three parts of base64url with dots between them.",
  },
  jwt_algorithm: {
    meaning: "The JWT names another algorithm than `JWT_ALGORITHM`.",
    remedy: "Have the platform sign with `JWT_ALGORITHM`, or change that here, with its key.",
  },
  jwt_unknown_key: {
    meaning:
      "The JWT names a key (`kid`) that is none of the platform's published ones, or none of them is of its kind.",
    remedy:
      "See whether `JWT_JWKS_URL` is of this environment's platform, and whether it publishes the key before it signs with it.",
  },
  jwt_signature: {
    meaning: "No configured key made the JWT's signature.",
    remedy:
      "Compare `JWT_SECRET`, `JWT_PUBLIC_KEY_FILE` or `JWT_JWKS_URL` with the platform's key for this environment.",
  },
  jwt_expired: {
    meaning: "The JWT is the platform's, and past its `exp`.",
    remedy: "Set the clocks of both sides (NTP); a platform that redelivers must make a new token.",
  },
  jwt_not_yet: {
    meaning: "The JWT is the platform's, and before its `nbf`.",
    remedy: "Set the clocks of both sides (NTP), or raise `JWT_CLOCK_TOLERANCE_SECONDS`.",
  },
  jwt_issuer: {
    meaning: "The JWT is signed with the right key, and its `iss` is not `JWT_ISSUER`.",
    remedy: "Compare the two to the letter, a slash at the end included.",
  },
  jwt_audience: {
    meaning:
      "The JWT is signed with the right key, and made for somebody else: its `aud` is not `JWT_AUDIENCE`.",
    remedy:
      "Compare the two to the letter. A token that is made for another service must not be accepted here.",
  },
  jwt_claims: {
    meaning:
      "The JWT is signed with the right key, and a claim that must be there is missing or not of its type.",
    remedy:
      "Have the platform put `iss`, `aud`, `exp` and, where it is set, `JWT_BODY_CLAIM` into its tokens.",
  },
  jwt_body: {
    meaning: "The JWT is the platform's, and the hash in `JWT_BODY_CLAIM` is not the body's.",
    remedy:
      "Let what stands in between pass the bytes on as they came; the platform must hash the bytes that it sends.",
  },
} as const satisfies Record<string, DiagnosisEntry>;

export const DIAGNOSES = { ...SIGNATURE_DIAGNOSES, ...TOKEN_DIAGNOSES };

export type DiagnosisCode = keyof typeof DIAGNOSES;

/** Why a callback was not authentic, for an operator; nothing in it was computed with a secret. */
export interface Diagnosis {
  readonly code: DiagnosisCode;
  /** What was found. */
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Whether a secret or key that is known here made what came, so that no stranger has sent it. */
  readonly confirmed: boolean;
}

/** One thing that was found, in a sentence. */
export interface Finding {
  readonly code: DiagnosisCode;
  readonly message: string;
}

const PRECEDENCE = Object.keys(DIAGNOSES) as DiagnosisCode[];

/** What was found, as one diagnosis: named after what lies deepest, with everything that is to be done. */
export function diagnosisOf(found: readonly Finding[], confirmed = false): Diagnosis {
  const codes = [...new Set(found.map(({ code }) => code))];
  const deepestFirst = codes.toSorted((a, b) => PRECEDENCE.indexOf(a) - PRECEDENCE.indexOf(b));
  const [code] = deepestFirst;
  if (code === undefined) throw new TypeError("a diagnosis needs something that was found");
  return {
    code,
    message: found.map(({ message }) => message).join(" "),
    remedy: deepestFirst.map((code) => DIAGNOSES[code].remedy).join(" "),
    confirmed,
  };
}

/** A diagnosis that was stored as JSON; those from before there was `confirmed` count as unconfirmed. */
export function storedDiagnosis(json: string): Diagnosis {
  return { confirmed: false, ...(JSON.parse(json) as Omit<Diagnosis, "confirmed">) };
}
