import { LinkedList } from "../domain/index.ts";
import type { Deadline } from "../store/index.ts";

interface Waiter {
  readonly timer: NodeJS.Timeout;
  readonly take: () => void;
}

interface Line {
  taken: number;
  readonly waiting: LinkedList<Waiter>;
}

/** Ends a turn; called once. */
export type EndTurn = () => void;

/** Lets so many through at a time, in order of arrival, within this process: the runs of a handler, the events of a key. */
export class Turns {
  readonly #lines = new Map<unknown, Line>();

  /** @param line anything that tells lines apart @returns undefined where the deadline came before the turn */
  take(line: unknown, max: number, deadline: Deadline): Promise<EndTurn | undefined> {
    const known = this.#lines.get(line) ?? { taken: 0, waiting: new LinkedList<Waiter>() };
    this.#lines.set(line, known);
    const end = () => this.#end(line, known);
    if (known.taken < max) {
      known.taken += 1;
      return Promise.resolve(end);
    }
    return new Promise((resolve) => {
      const late = () => {
        known.waiting.remove(entry);
        resolve(undefined);
      };
      const timer = setTimeout(late, Math.max(0, deadline - performance.now()));
      const entry = known.waiting.add({ timer, take: () => resolve(end) });
    });
  }

  /** The next one gets the turn itself, so that a newcomer does not overtake it. */
  #end(line: unknown, known: Line): void {
    const next = known.waiting.first;
    if (next === undefined) {
      known.taken -= 1;
      if (known.taken === 0) this.#lines.delete(line);
      return;
    }
    known.waiting.removeFirst();
    clearTimeout(next.timer);
    next.take();
  }
}
