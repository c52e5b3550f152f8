interface Kept<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** A map's value under a key; one that is missing is made and kept. */
export function getOrMake<K, V>(map: Kept<K, V>, key: K, make: () => V): V {
  const kept = map.get(key);
  if (kept !== undefined) return kept;
  const made = make();
  map.set(key, made);
  return made;
}

/** Runs at the first call; every call returns its result. One that threw is run again. */
export function callOnce<T>(run: () => T): () => T {
  let first: { readonly result: T } | undefined;
  return () => {
    first ??= { result: run() };
    return first.result;
  };
}

/** Opened at its first use, and kept. A try that failed is not kept: the next use tries again. */
export class Opening<T> {
  readonly #run: () => Promise<T>;
  #opened: Promise<T> | undefined;

  constructor(run: () => Promise<T>) {
    this.#run = run;
  }

  /** Undefined where it is neither open nor opening. */
  get current(): Promise<T> | undefined {
    return this.#opened;
  }

  open(): Promise<T> {
    this.#opened ??= this.#run().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }
}

/**
 * Wraps `find`, and remembers its results for the last texts.
 * @param most how many; then it forgets them all @param longest in characters: a longer text is not worth the memory
 */
export function remembered<T extends string | boolean | object>(
  find: (text: string) => T,
  most: number,
  longest = Number.POSITIVE_INFINITY,
): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const earlier = results.get(text);
    if (earlier !== undefined) return earlier;
    const result = find(text);
    if (text.length > longest) return result;
    if (results.size >= most) results.clear();
    results.set(text, result);
    return result;
  };
}
