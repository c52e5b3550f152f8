type End = () => Promise<unknown>;

const ends = new Set<End>();

/** `end` is awaited once the tests of the present file have ended. A process runs many files, and evaluates a module once. */
export function atFileEnd(end: End): void {
  ends.add(end);
}

export async function endFile(): Promise<void> {
  const due = [...ends];
  ends.clear();
  await Promise.all(due.map((end) => end()));
}
