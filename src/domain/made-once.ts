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
