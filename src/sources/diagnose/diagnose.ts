import { createHash, timingSafeEqual } from "node:crypto";
import {
  DIAGNOSES,
  type Diagnosis,
  type DiagnosisCode,
  diagnosisOf,
  type FaultCode,
  type Refused,
} from "../../domain/index.ts";
import type { DistinctHeaders } from "../schemes/scheme.ts";
import { diagnoseSignature } from "./diagnose-signature.ts";
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
  const code = refusal.diagnosis ?? OTHERS[refusal.code];
  if (code === undefined) return undefined;
  if (code === "stale" || code === "timestamp")
    return diagnoseTimestamp(suspect.headers, toleranceSeconds ?? 0, now);
  if (code === "token_mismatch") return diagnoseToken(suspect.headers, tokens);
  const message = sentence(refusal.detail) ?? DIAGNOSES[code].meaning;
  return diagnosisOf([{ code, message }], SIGNED.has(code));
}

/** What the log is told of a refusal, as a sentence. */
function sentence(detail: string | undefined): string | undefined {
  if (detail === undefined || detail === "") return undefined;
  return `The JWT was refused: ${detail}.`;
}

const SECONDS = /^\d{1,11}$/;
const MILLISECONDS = /^\d{13}$/;

/** Why `X-Timestamp` was refused, beside a signature that is right. */
function diagnoseTimestamp(headers: DistinctHeaders, toleranceSeconds: number, now: Date): Diagnosis {
  const values = headers["x-timestamp"] ?? [];
  const [value = ""] = values;
  const wrong = (message: string) =>
    diagnosisOf([{ code: "timestamp", message: `The signature is right; ${message}` }], true);
  if (values.length > 1) return wrong(`X-Timestamp stands in the request ${values.length} times.`);
  if (value === "") return wrong("X-Timestamp is missing.");
  if (MILLISECONDS.test(value)) return wrong("X-Timestamp is in milliseconds.");
  if (!SECONDS.test(value)) return wrong("X-Timestamp is no whole number of seconds.");
  const ahead = Math.round(Number(value) - now.getTime() / 1_000);
  const where = ahead > 0 ? `${ahead} s ahead of` : `${-ahead} s behind`;
  const message = `The signature is right; X-Timestamp lies ${where} this machine's clock, and ${toleranceSeconds} s are allowed.`;
  return diagnosisOf([{ code: "stale", message }], true);
}

/** The tokens that are accepted, and the header in which they are to stand. */
interface KnownTokens {
  readonly tokens: readonly string[];
  readonly header: string;
}

const WRAPPED = /^(?:bearer |token |basic )?["']?([^"']+)["']?$/i;
const MAX_TOKEN_LENGTH = 2_048;

/** Why a token was none of the known ones; both sides are hashed, as they are where it is accepted. */
function diagnoseToken(headers: DistinctHeaders, { tokens, header }: KnownTokens): Diagnosis {
  const [value = ""] = headers[header.toLowerCase()] ?? [];
  const bare =
    value.length > MAX_TOKEN_LENGTH ? undefined : WRAPPED.exec(decoded(value).replace(/^bearer /i, ""))?.[1];
  const claimed = tokenDigest(bare?.trim() ?? "");
  const matches = tokens.map((token) => timingSafeEqual(tokenDigest(token), claimed));
  return matches.includes(true)
    ? diagnosisOf(
        [{ code: "token_spelling", message: "The token is right but for what stands around it." }],
        true,
      )
    : diagnosisOf([{ code: "token_mismatch", message: "The token is none of the accepted ones." }]);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function tokenDigest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
