import { createHash, timingSafeEqual } from "node:crypto";
import {
  DIAGNOSES,
  type Diagnosis,
  type DiagnosisCode,
  diagnosisOf,
  type FaultCode,
  type Refused,
} from "../../domain/index.ts";
import type { SignedBody } from "../schemes/scheme.ts";
import { diagnoseSignature, type KnownSecrets } from "./diagnose-signature.ts";

export interface Expected {
  readonly secrets: KnownSecrets;
  readonly toleranceSeconds: number | null;
  readonly tokens: { readonly tokens: readonly string[]; readonly header: string };
}

interface RefusedRequest {
  readonly refusal: Refused;
  readonly request: SignedBody;
  readonly expected: Expected;
  readonly now: Date;
}

type Diagnose = (given: RefusedRequest) => Diagnosis;

const signature: Diagnose = ({ request, expected }) => diagnoseSignature(request, expected.secrets);
const fault = (
  code: DiagnosisCode,
  confirmed = false,
  meaning: string = DIAGNOSES[code].meaning,
): Diagnose => {
  return ({ refusal: { detail } }) => {
    const message = detail ? `The JWT was refused: ${detail}.` : meaning;
    return diagnosisOf([{ code, message }], confirmed);
  };
};
const TOKEN_MISSING =
  "The header that carries the token (`CALLBACK_TOKEN_HEADER`, `JWT_HEADER`) is missing, or not `Bearer <token>` in `Authorization`.";
const OTHER_BODY =
  "The hash in `JWT_BODY_CLAIM` is not the body's: the body was changed, or the token belongs to another one.";

/** The refusals that have a diagnosis. A JWT's claims are read once a key has verified its signature. */
const BY_FAULT: Partial<Record<FaultCode, Diagnose>> = {
  signature_missing: signature,
  signature_repeated: signature,
  signature_malformed: signature,
  signature_mismatch: signature,
  timestamp_missing: diagnoseTimestamp,
  timestamp_stale: diagnoseTimestamp,
  token_missing: fault("missing", false, TOKEN_MISSING),
  token_repeated: fault("repeated"),
  token_mismatch: diagnoseToken,
  jwt_malformed: fault("jwt_malformed"),
  jwt_signature: fault("jwt_signature"),
  jwt_claims: fault("jwt_claims", true),
  jwt_body_mismatch: fault("body_changed", true, OTHER_BODY),
};

export function isDiagnosable({ code }: Refused): boolean {
  return code in BY_FAULT;
}

/**
 * Why a request was refused as not authentic. Costs some 40 HMACs over the body.
 * @returns undefined where the refusal is of another kind
 */
export function diagnose(given: RefusedRequest): Diagnosis | undefined {
  return BY_FAULT[given.refusal.code]?.(given);
}

const SECONDS = /^\d{1,11}$/;
const MILLISECONDS = /^\d{13}$/;

/** Why `X-Timestamp` was refused, beside a correct signature. */
function diagnoseTimestamp({ request, expected: { toleranceSeconds }, now }: RefusedRequest): Diagnosis {
  const values = request.headers["x-timestamp"] ?? [];
  const problem = timestampProblem(values, toleranceSeconds ?? 0, now);
  return diagnosisOf(
    [{ code: "timestamp", message: `The signature is correct; X-Timestamp ${problem}.` }],
    true,
  );
}

function timestampProblem(values: readonly string[], toleranceSeconds: number, now: Date): string {
  const [value = ""] = values;
  if (values.length > 1) return `is there ${values.length} times`;
  if (value === "") return "is missing";
  if (MILLISECONDS.test(value)) return "is in milliseconds";
  if (!SECONDS.test(value)) return "is not a whole number of seconds";
  const ahead = Math.round(Number(value) - now.getTime() / 1_000);
  const where = ahead > 0 ? `${ahead} s ahead of` : `${-ahead} s behind`;
  return `is ${where} this machine's clock, and ${toleranceSeconds} s are allowed`;
}

const SCHEME_NAME = /^(?:bearer|token|basic) /i;
const QUOTED = /^"([^"]*)"$|^'([^']*)'$/;
const MAX_TOKEN_LENGTH = 2_048;

/** Why a token was not accepted; both sides are hashed, so that the time does not show the length. */
function diagnoseToken({ request, expected: { tokens: known } }: RefusedRequest): Diagnosis {
  const [value = ""] = request.headers[known.header.toLowerCase()] ?? [];
  const bare = (value.length > MAX_TOKEN_LENGTH ? "" : value).trim().replace(SCHEME_NAME, "").trim();
  const [, double, single] = QUOTED.exec(bare) ?? [];
  const claimed = sha256((double ?? single ?? bare).trim());
  const matches = known.tokens.map((token) => timingSafeEqual(sha256(token), claimed));
  const isRight = matches.includes(true);
  const message = isRight
    ? "The token is correct except for what surrounds it: `Bearer`, quotes or white space."
    : "The token is none of the accepted ones.";
  return diagnosisOf([{ code: "token_mismatch", message }], isRight);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
