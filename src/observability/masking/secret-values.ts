/** Shorter ones are parts of ordinary words. */
const SHORTEST = 8;

/** The secrets whose text is masked wherever it turns up. Those that a platform sends later join them; none leaves. */
export class SecretValues {
  /** The longest first: a secret that holds another one must not leave its rest behind. Another array once it has grown. */
  longestFirst: readonly string[] = [];

  constructor(secrets: readonly string[]) {
    this.add(secrets);
  }

  add(secrets: readonly string[]): void {
    const all = new Set([...this.longestFirst, ...secrets.filter((secret) => secret.length >= SHORTEST)]);
    if (all.size > this.longestFirst.length)
      this.longestFirst = [...all].sort((one, other) => other.length - one.length);
  }
}
