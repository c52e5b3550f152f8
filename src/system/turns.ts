import { getOrMake } from "../domain/index.ts";
import { BriefMap } from "./brief-map.ts";
import { FairQueue } from "./fair-queue.ts";

interface Waiter {
  readonly timer: NodeJS.Timeout;
  readonly take: () => void;
}

interface Queue {
  taken: number;
  /** Most queues have no waiter. */
  waiting: FairQueue<Waiter> | undefined;
}

/** Ends a turn; called once. */
export type EndTurn = () => void;

/** Queues within this process, each with a bound on how many run at once: the runs of a handler, the events of a key. */
export class Turns {
  readonly #queues = new BriefMap<unknown, Queue>();

  /**
   * Waits in order of arrival, while the sources and tenants of a queue take turns.
   * @param deadline on the scale of `performance.now()`
   * @param name identifies the queue: a text, or an object by its identity
   * @returns undefined where the deadline came before the turn
   */
  take(name: unknown, max: number, deadline: number, source = ""): Promise<EndTurn | undefined> {
    const known = this.#queueOf(name);
    const end = this.takeNow(name, max);
    if (end !== undefined) return Promise.resolve(end);
    known.waiting ??= new FairQueue();
    const { waiting } = known;
    return new Promise((resolve) => {
      const late = () => {
        leave();
        resolve(undefined);
      };
      const timer = setTimeout(late, Math.max(0, deadline - performance.now()));
      const leave = waiting.add(source, { timer, take: () => resolve(() => this.#end(name, known)) });
    });
  }

  /** @returns undefined where all turns are taken */
  takeNow(name: unknown, max: number): EndTurn | undefined {
    const known = this.#queueOf(name);
    if (known.taken >= max) return undefined;
    known.taken += 1;
    return () => this.#end(name, known);
  }

  #queueOf(name: unknown): Queue {
    return getOrMake(this.#queues, name, () => ({ taken: 0, waiting: undefined }));
  }

  /** Hands the turn to the next waiter directly, so that a newcomer does not overtake it. */
  #end(name: unknown, known: Queue): void {
    const next = known.waiting?.removeFirst();
    if (next === undefined) {
      known.taken -= 1;
      if (known.taken === 0) this.#queues.delete(name);
      return;
    }
    clearTimeout(next.timer);
    next.take();
  }
}
