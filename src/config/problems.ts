/** What is wrong with a configuration: one problem a variable, and none that only follows from another one. */
export interface Problems {
  /**
   * Adds what is wrong with these variables, unless something was said already of one of them, or of one of `causes`,
   * without which it might be no problem at all.
   */
  add(names: readonly string[], says: string, causes?: readonly string[]): void;
  /** Says no more of a variable: what is wrong with it was said under another name. */
  suppress(name: string): void;
  has(name: string): boolean;
  readonly texts: readonly string[];
}

export function createProblems(): Problems {
  const reported = new Set<string>();
  const texts: string[] = [];
  return {
    texts,
    add(names, says, causes = []) {
      if ([...names, ...causes].some((name) => reported.has(name))) return;
      texts.push(`${names.join(", ")}: ${says}`);
      for (const name of names) reported.add(name);
    },
    suppress: (name) => void reported.add(name),
    has: (name) => reported.has(name),
  };
}

/** Everything that is wrong with a configuration, at once; each problem names the variable and what it expects. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
