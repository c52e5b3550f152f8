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
