/** The place of a value in a list; `remove` takes it out again. */
export interface ListEntry<T> {
  readonly value: T;
  previous: ListEntry<T> | undefined;
  next: ListEntry<T> | undefined;
  isListed: boolean;
}

/**
 * Values in order of arrival, each of which can leave at any time. For what lives as long as a request: a `Set` makes
 * a new table every so many changes, and V8's former tables keep what stood in them alive until the next collection
 * of the whole heap, which is far longer than a request takes.
 */
export class LinkedList<T> {
  #first: ListEntry<T> | undefined;
  #last: ListEntry<T> | undefined;

  get first(): T | undefined {
    return this.#first?.value;
  }

  add(value: T): ListEntry<T> {
    const entry: ListEntry<T> = { value, previous: this.#last, next: undefined, isListed: true };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    return entry;
  }

  /** May be called again. */
  remove(entry: ListEntry<T>): void {
    if (!entry.isListed) return;
    const { previous, next } = entry;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    entry.isListed = false;
    // An old entry that points at a younger one would keep that one from being collected early.
    entry.previous = undefined;
    entry.next = undefined;
  }

  removeFirst(): void {
    if (this.#first !== undefined) this.remove(this.#first);
  }

  *[Symbol.iterator](): Generator<T> {
    for (let entry = this.#first; entry !== undefined; entry = entry.next) yield entry.value;
  }
}
