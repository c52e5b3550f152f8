interface Kept<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** What a map has under a key. Where it has nothing, it keeps what `make` returns. */
export function getOrMake<K, V>(map: Kept<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Runs at the first call; every call returns what came of it. One that threw is run again. */
export function callOnce<T>(run: () => T): () => T {
  let came: { readonly of: T } | undefined;
  return () => {
    came ??= { of: run() };
    return came.of;
  };
}

/**
 * Returns what `find` does, and remembers it for the last texts.
 * @param most how many; then it forgets them all @param longest in characters: a longer text is not worth the memory
 */
export function remembered<T extends string | boolean | object>(
  find: (text: string) => T,
  most: number,
  longest = Number.POSITIVE_INFINITY,
): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = find(text);
    if (text.length > longest) return found;
    if (known.size >= most) known.clear();
    known.set(text, found);
    return found;
  };
}
