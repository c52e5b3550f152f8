/** A node of a list; `remove` takes it out again. */
export interface ListEntry<T> {
  readonly value: T;
  previous: ListEntry<T> | undefined;
  next: ListEntry<T> | undefined;
  isListed: boolean;
}

/**
 * Values in order of arrival, each of which can leave at any time. For values that live as long as a request: a `Set`
 * makes a new table every so many changes. V8's former tables keep their values alive until the next collection of the
 * whole heap, far longer than a request.
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
    // An old entry that points at a younger one would delay its collection.
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

interface Timed<T> {
  readonly value: T;
  /** On the scale of `performance.now()`. */
  readonly endsAt: number;
}

export type DeadlineEntry<T> = ListEntry<Timed<T>>;

/** Passes on values that have not left in time. One timer serves all: they end in the order of their arrival. */
export class DeadlineList<T> {
  readonly #ms: number;
  readonly #late: (value: T) => void;
  readonly #keepsProcess: boolean;
  readonly #waiting = new LinkedList<Timed<T>>();
  #timer: NodeJS.Timeout | undefined;

  /** @param keepsProcess whether waiting values keep the process from ending */
  constructor(ms: number, late: (value: T) => void, keepsProcess: boolean) {
    this.#ms = ms;
    this.#late = late;
    this.#keepsProcess = keepsProcess;
  }

  add(value: T): DeadlineEntry<T> {
    if (this.#timer === undefined) this.#checkAfter(this.#ms);
    else if (this.#keepsProcess && this.#waiting.first === undefined) this.#timer.ref();
    return this.#waiting.add({ value, endsAt: performance.now() + this.#ms });
  }

  /** May be called again. */
  remove(entry: DeadlineEntry<T>): void {
    this.#waiting.remove(entry);
    // With nothing to wait for, the timer would only delay the end of the process.
    if (this.#waiting.first === undefined) this.#timer?.unref();
  }

  #checkAfter(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), ms);
    if (!this.#keepsProcess) this.#timer.unref();
  }

  #check(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (let first = this.#waiting.first; first !== undefined; first = this.#waiting.first) {
      if (first.endsAt > now) return this.#checkAfter(Math.ceil(first.endsAt - now));
      this.#waiting.removeFirst();
      this.#late(first.value);
    }
  }
}
