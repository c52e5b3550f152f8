import type { Diagnosis } from "../../domain/index.ts";
import { type Finding, warning } from "./finding.ts";

/**
 * What keeps the platform itself from being let in, of the newest callbacks in the log; each cause once, and nothing that a
 * stranger can have sent.
 */
export function checkRefused(diagnoses: readonly Diagnosis[]): Finding[] {
  const byCode = Map.groupBy(
    diagnoses.filter(({ confirmed }) => confirmed),
    ({ code }) => code,
  );
  return [...byCode].flatMap(([code, [newest, ...others]]) => {
    if (newest === undefined) return [];
    const count = others.length === 0 ? "a callback" : `${others.length + 1} callbacks`;
    const says = `${count} of the newest 1000 in the log (${code}): ${newest.says} ${newest.do}`;
    return [warning("refused", says)];
  });
}
