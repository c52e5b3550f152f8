const MAX_CHANGES = 32;

/**
 * A map for values that live as long as a request. A `Map` makes a new table every so many changes. V8's former tables keep
 * the later ones and their values alive until the next collection of the whole heap. This map starts over in their place,
 * mostly when it is empty.
 */
export class BriefMap<K, V> {
  #map = new Map<K, V>();
  #changes = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  set(key: K, value: V): void {
    this.#map.set(key, value);
    this.#changes += 1;
  }

  delete(key: K): void {
    if (!this.#map.delete(key)) return;
    const { size } = this.#map;
    if (this.#changes < MAX_CHANGES + 4 * size) return;
    this.#map = new Map(size === 0 ? undefined : this.#map);
    this.#changes = 0;
  }

  clear(): void {
    this.#map = new Map();
    this.#changes = 0;
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#map.entries();
  }
}
