import { DIAGNOSES, type DiagnosisCode } from "./diagnoses.ts";

/** Why a callback was not authentic, for an operator; nothing in it was computed with a secret. */
export interface Diagnosis {
  readonly code: DiagnosisCode;
  /** What was found. */
  readonly says: string;
  /** What to do about it. */
  readonly do: string;
  /** Whether a secret or key that is known here made what came, so that no stranger has sent it. */
  readonly confirmed: boolean;
}

/** One thing that was found, in a sentence. */
export interface Finding {
  readonly code: DiagnosisCode;
  readonly says: string;
}

const DEPTH = Object.keys(DIAGNOSES) as DiagnosisCode[];

/** What was found, as one diagnosis: named after what lies deepest, with everything that is to be done. */
export function diagnosisOf(found: readonly Finding[], confirmed = false): Diagnosis {
  const codes = [...new Set(found.map(({ code }) => code))];
  const deepestFirst = codes.toSorted((a, b) => DEPTH.indexOf(a) - DEPTH.indexOf(b));
  const [code] = deepestFirst;
  if (code === undefined) throw new TypeError("a diagnosis needs something that was found");
  return {
    code,
    says: found.map(({ says }) => says).join(" "),
    do: deepestFirst.map((code) => DIAGNOSES[code].do).join(" "),
    confirmed,
  };
}

/** A diagnosis that was stored as JSON; those from before there was `confirmed` count as unconfirmed. */
export function storedDiagnosis(json: string): Diagnosis {
  return { confirmed: false, ...(JSON.parse(json) as Omit<Diagnosis, "confirmed">) };
}
