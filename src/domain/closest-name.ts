const MAX_DISTANCE = 2;
/** Shorter names are too close to many others: HOME and HOST, PATH and PORT. */
const MIN_NAME_LENGTH = 6;

export function closestName(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.includes(name)) return undefined;
  return candidates.find((candidate) =>
    Math.min(name.length, candidate.length) < MIN_NAME_LENGTH
      ? isSwapped(name, candidate)
      : distance(name, candidate) <= MAX_DISTANCE,
  );
}

/** As `closestName`, among names that are all of one kind: a short one may lack a letter too. */
export function closestOption(name: string, candidates: readonly string[]): string | undefined {
  return closestName(name, candidates) ?? candidates.find((candidate) => distance(name, candidate) === 1);
}

function isSwapped(name: string, candidate: string): boolean {
  return [...name].some(
    (letter, index) => `${name.slice(0, index)}${name[index + 1] ?? ""}${letter}${name.slice(index + 2)}` === candidate,
  );
}

/** Levenshtein's distance; infinite where the lengths differ by more than the limit. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_DISTANCE) return Number.POSITIVE_INFINITY;
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
