import { timingSafeEqual } from "node:crypto";
import { type Diagnosis, diagnosisOf, type Finding, type Remedies } from "../../domain/index.ts";
import type { SignedRequest } from "../request.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { createDigester } from "../schemes/keyed-digest.ts";
import { compileCandidates, type SignedSource } from "./candidates.ts";
import { guessFrom } from "./changed-body.ts";
import { compileOffered } from "./offered.ts";

/** With two secrets and sixteen of other environments. */
const MAX_CANDIDATES = 76;

/** With no finding the secret was learnt since, or the refusal was of an earlier one. */
const RIGHT_NOW: Finding = { code: "unknown", message: "The signature is correct by now." };

/**
 * Why a signature did not verify: compares it with what platforms and proxies are known to do. Compares in constant time and
 * returns no digest.
 */
export function createSignatureDiagnosis(data: HmacData, source: SignedSource) {
  const readOffered = compileOffered(data);
  const { algorithm = "sha256" } = data;
  const candidatesFor = compileCandidates(data, source);
  const { name, isOwn } = source;
  return (request: SignedRequest, common: Remedies): Diagnosis => {
    const { digests, findings, ifRight = [], prefix, timestamp } = readOffered(request.headers);
    const own = `Set \`prefix: "${prefix}"\` in the \`signature\` of source ${name}.`;
    const remedies = isOwn && prefix !== undefined ? { ...common, prefix: own } : common;
    let left = digests.length === 0 ? 0 : MAX_CANDIDATES;
    for (const { key, content, findings: how, remedy } of candidatesFor(request, timestamp)) {
      if (left === 0) break;
      left -= 1;
      const right = createDigester(algorithm, key)(content);
      const isRight = digests.some(({ length }, at) => {
        const claimed = digests[at];
        return claimed !== undefined && length === right.length && timingSafeEqual(right, claimed);
      });
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

/** What a digest that fits shows: of its form, which is all that is wrong with it where nothing else is. */
function confirmedFindings(format: readonly Finding[], signed: readonly Finding[]): readonly Finding[] {
  const last = format.at(-1);
  if (signed.length > 0 || last === undefined) return [...format, ...signed];
  return format.with(-1, { ...last, message: `${last.message} The digest itself is correct.` });
}
