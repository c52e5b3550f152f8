/** What is wrong with a configuration: one problem a variable, and none that only follows from another one. */
export interface Problems {
  /**
   * Adds what is wrong with these variables, unless something was said already of one of them, or of one of `causes`,
   * without which it might be no problem at all.
   */
  add(names: readonly string[], says: string, causes?: readonly string[]): void;
  /** Says no more of a variable: what is wrong with it was said under another name. */
  settle(name: string): void;
  has(name: string): boolean;
  readonly texts: readonly string[];
}

export function createProblems(): Problems {
  const told = new Set<string>();
  const texts: string[] = [];
  return {
    texts,
    add(names, says, causes = []) {
      if ([...names, ...causes].some((name) => told.has(name))) return;
      texts.push(`${names.join(", ")}: ${says}`);
      for (const name of names) told.add(name);
    },
    settle: (name) => void told.add(name),
    has: (name) => told.has(name),
  };
}
