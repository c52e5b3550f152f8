import { FairQueue } from "./fair-queue.ts";

interface Waiter {
  readonly timer: NodeJS.Timeout;
  readonly take: () => void;
}

interface Queue {
  taken: number;
  readonly waiting: FairQueue<Waiter>;
}

/** Ends a turn; called once. */
export type EndTurn = () => void;

/** Queues within this process, each with a bound on how many run at once: the runs of a handler, the events of a key. */
export class Turns {
  readonly #queues = new Map<unknown, Queue>();

  /**
   * Waits in order of arrival, while the sources and tenants of a queue take turns.
   * @param deadline on the scale of `performance.now()`
   * @param name identifies the queue: a text, or an object by its identity
   * @returns undefined where the deadline came before the turn
   */
  take(name: unknown, max: number, deadline: number, source = ""): Promise<EndTurn | undefined> {
    const known = this.#queues.get(name) ?? { taken: 0, waiting: new FairQueue<Waiter>() };
    this.#queues.set(name, known);
    const end = () => this.#end(name, known);
    if (known.taken < max) {
      known.taken += 1;
      return Promise.resolve(end);
    }
    return new Promise((resolve) => {
      const late = () => {
        leave();
        resolve(undefined);
      };
      const timer = setTimeout(late, Math.max(0, deadline - performance.now()));
      const leave = known.waiting.add(source, { timer, take: () => resolve(end) });
    });
  }

  /** Hands the turn to the next waiter directly, so that a newcomer does not overtake it. */
  #end(name: unknown, known: Queue): void {
    const next = known.waiting.removeFirst();
    if (next === undefined) {
      known.taken -= 1;
      if (known.taken === 0) this.#queues.delete(name);
      return;
    }
    clearTimeout(next.timer);
    next.take();
  }
}
