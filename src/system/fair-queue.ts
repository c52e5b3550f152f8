import { BriefMap } from "./brief-map.ts";
import { LinkedList } from "./linked-list.ts";

/** A round-robin queue: in order of arrival within each name, one value of each name after the other. */
export class FairQueue<T> {
  readonly #lists = new BriefMap<string, LinkedList<T>>();

  get first(): T | undefined {
    for (const [, list] of this.#lists) return list.first;
    return undefined;
  }

  /** @returns removes it again; may be called later and more than once */
  add(name: string, value: T): () => void {
    const list = this.#lists.get(name) ?? new LinkedList<T>();
    this.#lists.set(name, list);
    const entry = list.add(value);
    return () => {
      list.remove(entry);
      if (list.first === undefined && this.#lists.get(name) === list) this.#lists.delete(name);
    };
  }

  removeFirst(): T | undefined {
    for (const [name, list] of this.#lists) {
      const { first } = list;
      list.removeFirst();
      if (list.first === undefined) this.#lists.delete(name);
      else if (this.#lists.size > 1) {
        this.#lists.delete(name);
        this.#lists.set(name, list);
      }
      return first;
    }
    return undefined;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const [, list] of this.#lists) yield* list;
  }
}
