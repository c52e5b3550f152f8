/** What is wrong with a configuration: one problem a variable, and none that only follows from another one. */
export interface Problems {
  /**
   * Adds a problem of these variables, unless one of them has a problem already, or one of `causes`: without that it
   * might be none.
   */
  add(names: readonly string[], message: string, causes?: readonly string[]): void;
  /** Adds no further problem of a variable: another name reports it. */
  suppress(name: string): void;
  has(name: string): boolean;
  readonly texts: readonly string[];
}

export function createProblems(): Problems {
  const reported = new Set<string>();
  const texts: string[] = [];
  return {
    texts,
    add(names, message, causes = []) {
      if ([...names, ...causes].some((name) => reported.has(name))) return;
      texts.push(`${names.join(", ")}: ${message}`);
      for (const name of names) reported.add(name);
    },
    suppress: (name) => void reported.add(name),
    has: (name) => reported.has(name),
  };
}

/** Every problem of a configuration at once; each names its variable and what is expected. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
