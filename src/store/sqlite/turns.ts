import type { Deadline } from "../store.ts";
import { StoreFault } from "../store-fault.ts";

interface Waiter {
  readonly topic: string;
  start(): void;
}

/**
 * SQLite has one writer, and handlers may await while they hold its transaction: this is the queue before it,
 * first come, first served. `topic` is the event at work, so that a late duplicate learns what it waited for.
 */
export class Turns {
  readonly #waiting: Waiter[] = [];
  #current: string | undefined;

  /** @throws StoreFault when the turn did not come before the deadline; nothing was begun */
  async take<T>(topic: string, deadline: Deadline, run: () => T | Promise<T>): Promise<T> {
    if (this.#current === undefined) this.#current = topic;
    else await this.#wait(topic, deadline);
    try {
      return await run();
    } finally {
      this.#next();
    }
  }

  #wait(topic: string, deadline: Deadline): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        topic,
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(
        () => {
          const held = this.#current === topic;
          this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
          reject(
            held
              ? new StoreFault(
                  "in_progress",
                  "another delivery of this event was still running at the deadline",
                  topic,
                )
              : new StoreFault(
                  "unavailable",
                  "the database's one writer was not free until the deadline",
                  undefined,
                ),
          );
        },
        Math.max(0, deadline - performance.now()),
      );
      this.#waiting.push(waiter);
    });
  }

  #next(): void {
    const waiter = this.#waiting.shift();
    this.#current = waiter?.topic;
    waiter?.start();
  }
}
