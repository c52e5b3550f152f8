import { getOrMake } from "../domain/index.ts";
import { BriefMap } from "./brief-map.ts";
import { FairQueue } from "./fair-queue.ts";

interface Queue {
  held: number;
  /** Each takes the permit that it waits for. Most queues have no waiter. */
  waiting: FairQueue<() => void> | undefined;
}

/** Gives a permit back; called once. */
export type Release = () => void;

/** A semaphore for each name in this process: for the runs of a handler, or the events of a key. */
export class KeyedSemaphore {
  readonly #queues = new BriefMap<unknown, Queue>();

  /**
   * Waits in order of arrival, round-robin between the sources and tenants of a queue.
   * @param deadline on the scale of `performance.now()`
   * @param name identifies the queue: a text, or an object by its identity
   * @returns undefined where the deadline came before a permit
   */
  acquire(name: unknown, max: number, deadline: number, source = ""): Promise<Release | undefined> {
    const queue = this.#queueOf(name);
    const release = this.tryAcquire(name, max);
    if (release !== undefined) return Promise.resolve(release);
    queue.waiting ??= new FairQueue();
    const { waiting } = queue;
    return new Promise((resolve) => {
      const late = () => {
        leave();
        resolve(undefined);
      };
      const timer = setTimeout(late, Math.max(0, deadline - performance.now()));
      const leave = waiting.add(source, () => {
        clearTimeout(timer);
        resolve(() => this.#release(name, queue));
      });
    });
  }

  /** @returns undefined where all permits are held */
  tryAcquire(name: unknown, max: number): Release | undefined {
    const queue = this.#queueOf(name);
    if (queue.held >= max) return undefined;
    queue.held += 1;
    return () => this.#release(name, queue);
  }

  #queueOf(name: unknown): Queue {
    return getOrMake(this.#queues, name, () => ({ held: 0, waiting: undefined }));
  }

  /** Hands the permit to the next waiter directly, so that a newcomer does not overtake it. */
  #release(name: unknown, queue: Queue): void {
    const take = queue.waiting?.removeFirst();
    if (take !== undefined) return take();
    queue.held -= 1;
    if (queue.held === 0) this.#queues.delete(name);
  }
}
