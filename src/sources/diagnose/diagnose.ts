import { timingSafeEqual } from "node:crypto";
import {
  type Diagnosis,
  type DiagnosisCode,
  diagnosisOf,
  type FaultCode,
  type Finding,
  type Refused,
  type Remedies,
} from "../../domain/index.ts";
import { asSentTo } from "../presets/registered-url.ts";
import type { SignedRequest } from "../request.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { createDigester } from "../schemes/keyed-digest.ts";
import { isTenantUnknown, tenantIn } from "../schemes/tenant-scheme.ts";
import { tokenMatcher } from "../token-match.ts";
import { compileCandidates, type SignedSource } from "./candidates.ts";
import { guessFrom } from "./changed-body.ts";
import { compileOffered } from "./offered.ts";
import { remediesOf, unknownTenant } from "./remedies.ts";

export interface DiagnosedSource extends SignedSource {
  /** Undefined where it does not sign by HMAC: the refusal's own words are the diagnosis then. */
  readonly hmac: HmacData | undefined;
  /** The registered address, where a proxy maps it to another path. */
  readonly url?: string | undefined;
  /** The accepted tokens, and the header in which a refused one is looked at without what surrounds it. */
  readonly tokens?: { readonly tokens: readonly string[]; readonly header: string };
  /** Words of its own, in the place of those that name the source and its platform. */
  readonly words?: { readonly remedies: Remedies; readonly explain: (refusal: Refused) => string };
}

/** @returns undefined where the refusal is no matter of authenticity */
export type DiagnoseSource = (refusal: Refused, request: SignedRequest) => Diagnosis | undefined;

/** The refusals that have a diagnosis, and its code where nothing else is found. */
const CODES: Partial<Record<FaultCode, DiagnosisCode>> = {
  signature_missing: "missing",
  signature_repeated: "repeated",
  signature_malformed: "malformed",
  signature_mismatch: "unknown",
  timestamp_missing: "timestamp",
  timestamp_stale: "timestamp",
  token_missing: "missing",
  token_repeated: "repeated",
  token_mismatch: "token_mismatch",
  jwt_malformed: "jwt_malformed",
  jwt_signature: "jwt_signature",
  jwt_claims: "jwt_claims",
  jwt_body_mismatch: "body_changed",
};
/** A stale timestamp counts once the signature has fitted, and a token's claims once a key has. */
const CONFIRMED: readonly FaultCode[] = ["timestamp_stale", "jwt_claims", "jwt_body_mismatch"];

export function isDiagnosable({ code }: Refused): boolean {
  return code in CODES;
}

/** Explains the refusals of one source in its platform's words: its headers, its secrets, and its signed text. */
export function createDiagnosis(diagnosed: DiagnosedSource): DiagnoseSource {
  const { url, hmac, title, tokens, words } = diagnosed;
  const source = url === undefined ? diagnosed : { ...diagnosed, origin: () => new URL(url).origin };
  const bySignature = hmac === undefined ? undefined : createSignatureDiagnosis(hmac, source);
  const isTimeUnsigned = hmac !== undefined && !hmac.signed.includes("{timestamp}");
  const explain =
    words?.explain ??
    (({ code, detail, message }) => {
      const problem = CODES[code] === "timestamp" ? "The timestamp was refused" : `${title} was not recognized`;
      return `${problem}: ${detail ?? message}.`;
    });
  return (refusal, arrived) => {
    const request = url === undefined ? arrived : asSentTo(url, arrived);
    const diagnosisCode = CODES[refusal.code];
    if (diagnosisCode === undefined) return undefined;
    const tenant = tenantIn(request);
    if (isTenantUnknown(refusal)) return unknownTenant(diagnosisCode, refusal.tenantOption, tenant, title);
    const remedies = words?.remedies ?? remediesOf(source, tenant);
    if (refusal.code.startsWith("signature_") && bySignature !== undefined) return bySignature(request, remedies);
    if (refusal.code === "token_mismatch" && tokens !== undefined) return diagnoseToken(request, tokens);
    const isConfirmed = CONFIRMED.includes(refusal.code) || (diagnosisCode === "timestamp" && isTimeUnsigned);
    return diagnosisOf([{ code: diagnosisCode, message: explain(refusal) }], isConfirmed, remedies);
  };
}

/** With two secrets and sixteen of other environments. */
const MAX_CANDIDATES = 76;

/** With no finding the secret was learnt since, or the refusal was of an earlier one. */
const RIGHT_NOW: Finding = { code: "unknown", message: "The signature is correct by now." };

/**
 * Why a signature did not verify: compares it with what platforms and proxies are known to do. Compares in constant time and
 * returns no digest.
 */
function createSignatureDiagnosis(data: HmacData, source: SignedSource) {
  const readOffered = compileOffered(data);
  const { algorithm = "sha256" } = data;
  const candidatesFor = compileCandidates(data, source);
  return (request: SignedRequest, common: Remedies): Diagnosis => {
    const { digests, findings, ifRight = [], prefix, timestamp } = readOffered(request.headers);
    const remedy = `Set \`prefix: "${prefix}"\` in the \`signature\` of source ${source.name}.`;
    const remedies = source.isOwn && prefix !== undefined ? { ...common, prefix: remedy } : common;
    let candidatesLeft = digests.length === 0 ? 0 : MAX_CANDIDATES;
    for (const { key, content, findings: how, remedy } of candidatesFor(request, timestamp)) {
      if (candidatesLeft === 0) break;
      candidatesLeft -= 1;
      const right = createDigester(algorithm, key)(content);
      const isRight = digests.some((claimed) => claimed.length === right.length && timingSafeEqual(right, claimed));
      if (!isRight) continue;
      const all = confirmedFindings([...findings, ...ifRight], how);
      return diagnosisOf(all.length === 0 ? [RIGHT_NOW] : all, true, { ...remedies, ...remedy });
    }
    // Another platform's header says enough: its secret is not expected here.
    const isOther = findings.some(({ code }) => code === "other_header");
    const guess = digests.length > 0 && !isOther ? [guessFrom(request.body)] : [];
    return diagnosisOf([...findings, ...guess], false, remedies);
  };
}

/** The findings where a digest fits: its form is all that is wrong where nothing else is. */
function confirmedFindings(format: readonly Finding[], signed: readonly Finding[]): readonly Finding[] {
  const last = format.at(-1);
  if (signed.length > 0 || last === undefined) return [...format, ...signed];
  return format.with(-1, { ...last, message: `${last.message} The digest itself is correct.` });
}

const SCHEME_NAME = /^(?:bearer|token|basic) /i;
const QUOTED = /^"([^"]*)"$|^'([^']*)'$/;
const MAX_TOKEN_LENGTH = 2_048;

/** Why a token was not accepted; both sides are hashed, so that the time does not show the length. */
function diagnoseToken(
  { headers }: SignedRequest,
  { tokens, header }: NonNullable<DiagnosedSource["tokens"]>,
): Diagnosis {
  const [value = ""] = headers[header.toLowerCase()] ?? [];
  const bare = (value.length > MAX_TOKEN_LENGTH ? "" : value).trim().replace(SCHEME_NAME, "").trim();
  const [, double, single] = QUOTED.exec(bare) ?? [];
  const isRight = tokenMatcher(tokens)((double ?? single ?? bare).trim()) !== -1;
  const message = isRight
    ? "The token is correct except for what surrounds it: `Bearer`, quotes or white space."
    : "The token is none of the accepted ones.";
  return diagnosisOf([{ code: "token_mismatch", message }], isRight);
}
