import {
  DIAGNOSES,
  type Diagnosis,
  type DiagnosisCode,
  diagnosisOf,
  type FaultCode,
  type Refused,
} from "../../domain/index.ts";
import { diagnoseSignature } from "./diagnose-signature.ts";
import { diagnoseTimestamp } from "./diagnose-timestamp.ts";
import { diagnoseToken, type KnownTokens } from "./diagnose-token.ts";
import type { KnownSecrets, Suspect } from "./suspect.ts";

/** What this receiver would have accepted. */
export interface Expected {
  readonly secrets: KnownSecrets;
  readonly toleranceSeconds: number | null;
  readonly tokens: KnownTokens;
}

/** The refusals that can be looked into. */
const SIGNATURE: ReadonlySet<FaultCode> = new Set([
  "signature_missing",
  "signature_repeated",
  "signature_malformed",
  "signature_mismatch",
]);
const OTHERS: Partial<Record<FaultCode, DiagnosisCode>> = {
  timestamp_missing: "timestamp",
  timestamp_stale: "stale",
  token_missing: "token_missing",
  token_repeated: "token_repeated",
  token_mismatch: "token_mismatch",
  jwt_malformed: "jwt_malformed",
  jwt_signature: "jwt_signature",
  jwt_claims: "jwt_claims",
  jwt_body_mismatch: "jwt_body",
};

/** Claims are looked at once a key has been found that made the signature. */
const SIGNED: ReadonlySet<DiagnosisCode> = new Set([
  "jwt_expired",
  "jwt_not_yet",
  "jwt_issuer",
  "jwt_audience",
  "jwt_claims",
  "jwt_body",
]);

/** Whether there is something to be found out about a refusal. */
export function isDiagnosable({ code }: Refused): boolean {
  return SIGNATURE.has(code) || code in OTHERS;
}

/**
 * Why a request was refused as not authentic, in steps of bounded work.
 * @returns undefined where the refusal is of another kind
 */
export function* diagnose(
  refusal: Refused,
  suspect: Suspect,
  { secrets, toleranceSeconds, tokens }: Expected,
  now: Date,
): Generator<undefined, Diagnosis | undefined> {
  if (SIGNATURE.has(refusal.code)) return yield* diagnoseSignature(suspect, secrets);
  const code = refusal.because ?? OTHERS[refusal.code];
  if (code === undefined) return undefined;
  if (code === "stale" || code === "timestamp")
    return diagnoseTimestamp(suspect.headers, toleranceSeconds ?? 0, now);
  if (code === "token_mismatch") return diagnoseToken(suspect.headers, tokens);
  const says = sentence(refusal.detail) ?? DIAGNOSES[code].meaning;
  return diagnosisOf([{ code, says }], SIGNED.has(code));
}

/** What the log is told of a refusal, as a sentence. */
function sentence(detail: string | undefined): string | undefined {
  if (detail === undefined || detail === "") return undefined;
  return `The JWT was refused: ${detail}.`;
}
