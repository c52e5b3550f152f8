import { type Diagnosis, diagnosisOf, type FaultCode, type Refused } from "../../domain/index.ts";
import type { SignedRequest } from "../request.ts";
import { platformHmac } from "../schemes/hmac-data.ts";
import { tokenMatcher } from "../token-match.ts";
import type { NamedSecret } from "./candidates.ts";
import { createSignatureDiagnosis } from "./diagnose-signature.ts";
import { CODES, type DiagnoseSource } from "./diagnose-source.ts";

/** What the specification's platform must send. */
interface Expected {
  /** Those that are accepted, the current one first. */
  readonly secrets: readonly string[];
  /** Those of other environments. */
  readonly named: readonly NamedSecret[];
  readonly tokens: { readonly tokens: readonly string[]; readonly header: string };
}

/** Of the refusals without a detail. */
const MEANINGS: Partial<Record<FaultCode, string>> = {
  token_missing:
    "The header that carries the token (`CALLBACK_TOKEN_HEADER`, `JWT_HEADER`) is missing, or not `Bearer <token>` in `Authorization`.",
  token_repeated: "The header of the signature or token is repeated, or holds several signatures.",
  jwt_malformed: "The token is not a compact JWT, or names another algorithm than `JWT_ALGORITHM`.",
  jwt_signature: "No configured key made the JWT's signature, or its `kid` names none of them.",
  jwt_claims: "The JWT's key is known, but a claim is missing, expired, not valid yet or unexpected.",
  jwt_body_mismatch:
    "The hash in `JWT_BODY_CLAIM` is not the body's: the body was changed, or the token belongs to another one.",
};

export function isDiagnosable({ code }: Refused): boolean {
  return code in CODES;
}

/** Explains the refusals of the specification's platform, in the words of its variables. */
export function createPlatformDiagnosis(expected: Expected): DiagnoseSource {
  const { secrets, named } = expected;
  const bySignature = createSignatureDiagnosis(platformHmac(null), {
    ...{ name: "platform", title: "the platform", isOwn: false, named, others: [] },
    secrets: () => secrets,
    secretName: (index) => (index === 0 ? "SIGNING_SECRET" : "SIGNING_SECRET_PREVIOUS"),
  });
  return (refusal, request) => {
    const { code, detail } = refusal;
    const found = CODES[code];
    if (found === undefined) return undefined;
    if (code.startsWith("signature_")) return bySignature(request, {});
    if (found === "timestamp") {
      const message = `The signature is correct; ${detail ?? refusal.message}.`;
      return diagnosisOf([{ code: found, message }], true);
    }
    if (code === "token_mismatch") return diagnoseToken(request, expected);
    const message = detail ? `The JWT was refused: ${detail}.` : (MEANINGS[code] ?? refusal.message);
    // A JWT's claims are read once a key has verified its signature.
    return diagnosisOf([{ code: found, message }], code === "jwt_claims" || code === "jwt_body_mismatch");
  };
}

const SCHEME_NAME = /^(?:bearer|token|basic) /i;
const QUOTED = /^"([^"]*)"$|^'([^']*)'$/;
const MAX_TOKEN_LENGTH = 2_048;

/** Why a token was not accepted; both sides are hashed, so that the time does not show the length. */
function diagnoseToken({ headers }: SignedRequest, { tokens: known }: Expected): Diagnosis {
  const [value = ""] = headers[known.header.toLowerCase()] ?? [];
  const bare = (value.length > MAX_TOKEN_LENGTH ? "" : value).trim().replace(SCHEME_NAME, "").trim();
  const [, double, single] = QUOTED.exec(bare) ?? [];
  const claimed = (double ?? single ?? bare).trim();
  const isRight = tokenMatcher(known.tokens)(claimed) !== -1;
  const message = isRight
    ? "The token is correct except for what surrounds it: `Bearer`, quotes or white space."
    : "The token is none of the accepted ones.";
  return diagnosisOf([{ code: "token_mismatch", message }], isRight);
}
