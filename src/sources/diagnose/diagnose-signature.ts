import { timingSafeEqual } from "node:crypto";
import { type Diagnosis, diagnosisOf, type Finding } from "../../domain/index.ts";
import { candidatesFor } from "./candidates.ts";
import type { ClaimedDigest } from "./claimed-digest.ts";
import { ALGORITHMS, type DigestCandidate, SHA256_BYTES } from "./digest.ts";
import { type BodyText, bodyTextOf } from "./json-text.ts";
import { type OfferedSignature, offeredSignature } from "./offered-signature.ts";
import type { KnownSecrets, Suspect } from "./suspect.ts";
import { WorkBudget } from "./work-budget.ts";

const REPLACED = "\ufffd";

/**
 * Why a signature did not verify: tries, one at each step, what platforms and proxies are known to do otherwise. Pure and
 * without a clock; whoever runs it decides how many steps at a time. Digests are compared in constant time and shown to nobody.
 */
export function* diagnoseSignature(
  suspect: Suspect,
  secrets: KnownSecrets,
  effort = new WorkBudget(),
): Generator<undefined, Diagnosis> {
  const offered = offeredSignature(suspect.headers);
  const { claims, findings } = offered;
  if (offered.isEmpty) return diagnosisOf(findings);
  const bodyText = bodyTextOf(suspect.body, effort);
  const kinds = new Set(claims.map(({ digest }) => digest.length)).size;
  for (const candidate of claims.length === 0 ? [] : candidatesFor(suspect, secrets, claims, bodyText)) {
    yield;
    if (candidate === undefined) continue;
    if (!effort.take(candidate.bytes * kinds)) break;
    const claim = claimOf(candidate, claims);
    if (claim !== undefined) return found(offered, claim, candidate);
  }
  return yield* nothingFound(offered, suspect.body, bodyText);
}

/** The claim that a candidate makes true; each digest is computed once, however many claim it. */
function claimOf(candidate: DigestCandidate, claims: readonly ClaimedDigest[]): ClaimedDigest | undefined {
  const computed = new Map<string, Uint8Array>();
  return claims.find(({ digest }) => {
    if (candidate.algorithm !== undefined && digest.length !== SHA256_BYTES) return false;
    const algorithm = candidate.algorithm ?? ALGORITHMS[digest.length]?.name;
    if (algorithm === undefined) return false;
    const right = computed.get(algorithm) ?? candidate.digest(algorithm);
    computed.set(algorithm, right);
    return timingSafeEqual(right, digest);
  });
}

function found(
  { findings, header }: OfferedSignature,
  claim: ClaimedDigest,
  candidate: DigestCandidate,
): Diagnosis {
  const sent = [...findings, ...claim.findings, ...otherLength(claim, "The signature was made with")];
  if (candidate.findings.length > 0) return diagnosisOf([...sent, ...candidate.findings], candidate.isKeyed);
  const last = sent.at(-1);
  // What is written as it should be, and is right, is not refused.
  if (last === undefined)
    return diagnosisOf([{ code: "unknown", message: `${header} holds what would be right.` }], true);
  return diagnosisOf(sent.with(-1, { ...last, message: `${last.message} Otherwise it is right.` }), true);
}

/** A digest of another length is another algorithm's. */
function otherLength({ digest }: ClaimedDigest, how: string): Finding[] {
  const { label = "" } = ALGORITHMS[digest.length] ?? {};
  if (digest.length === SHA256_BYTES) return [];
  return [{ code: "algorithm", message: `${how} ${label}, whose digests have ${digest.length} bytes.` }];
}

function* nothingFound(
  { claims, findings, header }: OfferedSignature,
  body: Uint8Array,
  bodyText: BodyText,
): Generator<undefined, Diagnosis> {
  const [claim] = claims;
  if (claim === undefined) {
    const malformed: Finding = {
      code: "malformed",
      message: `${header} holds no digest, neither in hexadecimal nor in base64.`,
    };
    return diagnosisOf([...findings, malformed]);
  }
  const shape = [...findings, ...claim.findings, ...otherLength(claim, "The signature is as long as one of")];
  return diagnosisOf([...shape, yield* lastGuess(body, bodyText)]);
}

/** What can be seen of the body itself, where no digest tells. */
function* lastGuess(body: Uint8Array, { text, read }: BodyText): Generator<undefined, Finding> {
  if (body.length === 0) return { code: "empty_body", message: "The body is empty." };
  if ((yield* read()) === "cut_off") return { code: "truncated", message: cutOff(body.length) };
  if (text.includes(REPLACED))
    return {
      code: "converted",
      message:
        "The body holds characters that could not be decoded, so that it is not in UTF-8 or was converted on the way.",
    };
  return {
    code: "unknown",
    message: "The signature fits none of the known secrets, with none of the changes that were tried.",
  };
}

function cutOff(bytes: number): string {
  const round = bytes % 1_024 === 0 ? `, exactly ${bytes / 1_024} KiB` : "";
  return `The body breaks off in the middle of its JSON, after ${bytes} bytes${round}.`;
}
