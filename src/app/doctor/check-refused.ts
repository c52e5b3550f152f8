import type { Diagnosis, DiagnosisCode } from "../../domain/index.ts";
import { type Finding, warning } from "./finding.ts";

/** What anybody can bring about who finds the address, and what no digest has confirmed. */
const ANYBODY: ReadonlySet<DiagnosisCode> = new Set<DiagnosisCode>([
  "truncated",
  "empty_body",
  "algorithm",
  "unknown",
  "missing",
  "empty",
  "malformed",
  "token_missing",
  "token_repeated",
  "token_mismatch",
  "jwt_malformed",
  "jwt_algorithm",
  "jwt_unknown_key",
  "jwt_signature",
]);

/** What keeps the platform itself from being let in, of the newest callbacks in the log; each cause once. */
export function checkRefused(diagnoses: readonly Diagnosis[]): Finding[] {
  const byCode = Map.groupBy(diagnoses, ({ code }) => code);
  return [...byCode].flatMap(([code, [newest, ...others]]) => {
    if (newest === undefined || ANYBODY.has(code)) return [];
    const count = others.length === 0 ? "a callback" : `${others.length + 1} callbacks`;
    const says = `${count} of the newest 1000 in the log (${code}): ${newest.says} ${newest.do}`;
    return [warning("refused", says)];
  });
}
