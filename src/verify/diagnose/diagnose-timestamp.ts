import { type Diagnosis, diagnosisOf } from "../../domain/index.ts";
import type { DistinctHeaders } from "../scheme.ts";

const SECONDS = /^\d{1,11}$/;
const MILLISECONDS = /^\d{13}$/;

/** Why `X-Timestamp` was refused, beside a signature that is right. */
export function diagnoseTimestamp(headers: DistinctHeaders, toleranceSeconds: number, now: Date): Diagnosis {
  const values = headers["x-timestamp"] ?? [];
  const [value = ""] = values;
  const wrong = (says: string) =>
    diagnosisOf([{ code: "timestamp", says: `The signature is right; ${says}` }], true);
  if (values.length > 1) return wrong(`X-Timestamp stands in the request ${values.length} times.`);
  if (value === "") return wrong("X-Timestamp is missing.");
  if (MILLISECONDS.test(value)) return wrong("X-Timestamp is in milliseconds.");
  if (!SECONDS.test(value)) return wrong("X-Timestamp is no whole number of seconds.");
  const ahead = Math.round(Number(value) - now.getTime() / 1_000);
  const where = ahead > 0 ? `${ahead} s ahead of` : `${-ahead} s behind`;
  const says = `The signature is right; X-Timestamp lies ${where} this machine's clock, and ${toleranceSeconds} s are allowed.`;
  return diagnosisOf([{ code: "stale", says }], true);
}
