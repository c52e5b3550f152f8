import { outcomeCounts } from "../domain/index.ts";

/** Such as `12 handled, 1 duplicate, 3 refused`; groups without a callback are left out. */
export function outcomesText(outcomes: Readonly<Record<string, number>>): string {
  const groups = Object.entries(outcomeCounts(outcomes)).filter(([, count]) => count > 0);
  const named = groups.map(([name, count]) => `${count} ${count === 1 && name === "duplicates" ? "duplicate" : name}`);
  return named.join(", ") || "no callback";
}
