const LONGEST_DISTANCE = 2;
/** Short names are too close to too many others: HOME and HOST, PATH and PORT. */
const SHORTEST_NAME = 6;

/** The known name that a misspelt one probably means. */
export function nearMiss(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  return known.find((candidate) =>
    Math.min(name.length, candidate.length) < SHORTEST_NAME
      ? isSwapped(name, candidate)
      : distance(name, candidate) <= LONGEST_DISTANCE,
  );
}

/** Whether two letters that stand side by side are the other way round: PROT for PORT. */
function isSwapped(a: string, b: string): boolean {
  const swapped = (at: number) =>
    a.slice(0, at) +
    a
      .slice(at, at + 2)
      .split("")
      .reverse()
      .join("") +
    a.slice(at + 2);
  return [...a].some((_, at) => swapped(at) === b);
}

/** Levenshtein's distance, given up where the lengths alone exceed what counts as near. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > LONGEST_DISTANCE) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
